/**
 * Opens a caller's batch: views its rows, checks its selection and operations, finds its columns. Then makes messages
 * of a range of it.
 *
 * @module
 */

import { type EarlierSends, resendLimit } from "../stream/resend.ts";
import { option, words } from "../errors/wording.ts";
import { type RowsView, viewRows } from "../arrow/view.ts";
import { describe } from "../util/describe.ts";
import { ConfigError, RouteError } from "../errors/mod.ts";
import type { PieceMemory } from "../json/memory/spare.ts";
import { openBody, openIds, openOperations, openRowValues } from "../message/columns.ts";
import { checkSelection, type OperationCodes, operationCodes, operationsOfColumn } from "../message/operations.ts";
import type { RowSource } from "../message/ids.ts";
import { prepareSteps, type RowRange } from "../message/prepare.ts";
import type { PreparedRows } from "../message/prepared_rows.ts";
import type { Settings } from "../options/publisher.ts";
import { unknownKey } from "../options/fields.ts";
import { misspelt } from "../util/nearest.ts";
import type { Steps } from "../util/steps.ts";
import type { Destination } from "../stream/destination.ts";
import type { RowBatch } from "../types/mod.ts";
import { modeOf } from "./mode.ts";

/** An open batch. */
export interface BatchSource extends RowSource {
  /** The destination resource. */
  readonly resource: string;
  /** How many rows are selected. */
  readonly selected: number;
  /** The rows. */
  readonly view: RowsView;
  /** Rows that earlier calls may have stored, by their index among the selected ones. */
  readonly earlier?: EarlierSends | undefined;
}

const KEYS: readonly (keyof RowBatch)[] = ["resource", "rows", "operations", "only"];

/** Opens a batch. Throws a ConfigError (`resource`, `only`, `operations`) or an EncodeError. */
export function openBatch(batch: RowBatch, settings: Settings): BatchSource {
  if (typeof batch !== "object" || batch === null) throw resourceError(batch);
  checkKeys(batch);
  if (typeof batch.resource !== "string") throw resourceError(batch.resource);
  const { resource } = batch;
  const view = viewRows(batch.rows);
  checkSelection(batch.only, view.rowCount);
  // A copy, as of the operations: the caller may change the array while the call is in progress.
  const only = batch.only?.slice();
  const selected = only?.length ?? view.rowCount;
  return {
    resource,
    view,
    selected,
    ...(only === undefined ? {} : { only }),
    operations: operationsOf(batch, view, settings),
    body: openBody(view, settings),
    ids: openIds(view, settings),
    values: openRowValues(view, settings),
  };
}

function operationsOf(batch: RowBatch, view: RowsView, settings: Settings): OperationCodes {
  const { operationColumn, operationValues, standardHeaders } = settings;
  if (!standardHeaders && batch.operations !== undefined && batch.operations !== "insert") {
    throw new ConfigError("config.conflict", {
      field: "operations",
      subject: words`${option("operations")}`,
      rule: words`must be "insert" or absent if ${option("standardHeaders")} is false: no header would have it`,
      received: describe(batch.operations),
    });
  }
  if (operationColumn === undefined) return operationCodes(batch.operations, view.rowCount);
  if (batch.operations === undefined) {
    return operationsOfColumn(openOperations(view, operationColumn), operationColumn, operationValues);
  }
  throw new ConfigError("config.conflict", {
    field: "operations",
    subject: words`${option("operations")}`,
    rule: words`must not be set with ${option("operationColumn")}`,
    received: describe(batch.operations),
  });
}

function resourceError(given: unknown): ConfigError {
  return new ConfigError("config.type", {
    field: "resource",
    rule: "must be the name of a destination",
    received: describe(given),
  });
}

/**
 * Throws a ConfigError for a misspelt key: rows with `operation: "delete"` must not be inserted. Other unknown keys are
 * allowed, since a batch may be an object that the caller uses for more.
 */
function checkKeys(batch: RowBatch): void {
  for (const key of Object.keys(batch)) {
    const meant = misspelt(key, KEYS);
    if (meant === undefined || meant in batch) continue;
    throw unknownKey(key, `did you mean ${JSON.stringify(meant)}?`, "key of a batch");
  }
}

/**
 * Makes messages of a range of an open batch, in steps, and checks them completely. Throws an EncodeError, or a
 * RouteError for the limits of their stream.
 */
export function* messageSteps(
  source: BatchSource,
  range: RowRange,
  destination: Destination,
  cut: boolean,
  settings: Settings,
  memory: PieceMemory,
): Steps<PreparedRows> {
  const mode = modeOf(settings);
  if (!cut) mode.checkCount(range.count, settings);
  const rows = yield* prepareSteps(source, range, destination.target, cut, memory);
  mode.checkBytes(rows, settings);
  checkStreamLimits(rows, destination, settings);
  yield* rows.checksum();
  return rows;
}

/** Checks rows against the limits of their stream. Throws a RouteError `route.too_small` or `route.short_dedupe`. */
function checkStreamLimits(rows: PreparedRows, destination: Destination, settings: Settings): void {
  const { retry, publishTimeout } = settings;
  destination.checkLargest?.(rows.largestRow());
  if (retry === undefined || !rows.hasIds) return;
  if (retry.budget <= resendLimit(destination.duplicateWindow, publishTimeout)) return;
  const { resource, stream, subject } = destination;
  throw new RouteError(
    "route.short_dedupe",
    words`Cannot publish rows with ids to stream "${stream}": ${option("retry.budget")} (${retry.budget} ms) plus ${
      option("publishTimeout")
    } (${publishTimeout} ms) must not exceed its duplicate_window (${destination.duplicateWindow} ms), otherwise a replay is stored twice`,
    { resource, stream, subject },
  );
}
