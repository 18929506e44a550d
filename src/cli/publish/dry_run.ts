/**
 * `jetrow publish --dry-run`: everything except sending.
 *
 * @module
 */

import { withBatch } from "../../errors/encode.ts";
import { pieceRanges, resolveLimits } from "../../arrow/slice.ts";
import { isJetrowError } from "../../errors/mod.ts";
import { batchesOf } from "../../lifecycle/batches_of.ts";
import { prepareRows, type RowRange } from "../../message/prepare.ts";
import type { PreparedRows } from "../../message/prepared_rows.ts";
import type { MessageTarget } from "../../message/target.ts";
import { resolveOptions, type Settings } from "../../options/publisher.ts";
import { type BatchSource, openBatch } from "../../publish/prepare_batch.ts";
import { captureFilter } from "../../subject/capture.ts";
import { untilAborted } from "../bytes.ts";
import type { CliIo } from "../io.ts";
import type { OpenSource } from "../input/open.ts";
import type { PublishPlan } from "./options.ts";
import { formatNumber, rowsOf } from "../report.ts";
import { targetOf } from "../route.ts";
import { previewOf, SubjectCount } from "./preview.ts";
import { visible } from "../text.ts";

/** The default `max_payload` of a server. */
const USUAL_MAX_PAYLOAD = 1_048_576;

/** The number of messages that are shown. */
const SHOWN = 3;

/** The totals of one resource. */
interface Tally {
  readonly resource: string;
  readonly stream: string;
  readonly subject: string;
  rows: number;
  rowsWithId: number;
  bytes: number;
  largestMessage: number;
}

/**
 * Routes, encodes, measures and counts; opens no connection. Prints a line of JSON per input, and warns about rows that a
 * server with default limits would refuse.
 *
 * @throws {EncodeError} or {RouteError} as publishing would
 */
export async function dryRun(plan: PublishPlan, sources: readonly OpenSource[], io: CliIo): Promise<void> {
  const settings = resolveOptions(plan.config);
  const limits = resolveLimits(plan.limits);
  let left = SHOWN;
  for (const { input, resource } of sources) {
    const { target, tally } = routeOf(settings, resource);
    const subjects = new SubjectCount();
    const previews: string[] = [];
    let index = 0;
    for await (const batch of batchesOf(resource, untilAborted(input.batches(), io.signal), plan.operation)) {
      try {
        const source = openBatch(batch, settings);
        for (const piece of pieceRanges(source.view, limits, source.only)) {
          io.signal.throwIfAborted();
          for (const rows of preparedPieces(source, piece, target)) {
            count(rows, tally);
            subjects.add(rows);
            for (let row = 0; row < rows.count && left > 0; row++, left--) previews.push(previewOf(rows, row));
          }
        }
      } catch (error) {
        const isData = isJetrowError(error) && error.name === "EncodeError";
        throw isData ? withBatch(error, index, `batch ${index} of ${input.name}`) : error;
      }
      index++;
    }
    await io.stdout.write(`${JSON.stringify({ ...tally, subjects: subjects.size })}\n`);
    if (tally.largestMessage > USUAL_MAX_PAYLOAD) {
      await io.stderr.write(
        `jetrow: the largest message of ${visible(resource)} has ${formatNumber(tally.largestMessage)} bytes: ` +
          `servers take ${formatNumber(USUAL_MAX_PAYLOAD)} unless max_payload is raised\n`,
      );
    }
    const rows = `${rowsOf(tally.rows)} of ${input.name}`;
    await io.stderr.write(
      `${previews.join("")}${visible(`${rows} would go to ${tally.subject} (${subjects}): nothing was sent`)}\n`,
    );
  }
}

function routeOf(settings: Settings, resource: string): { target: MessageTarget; tally: Tally } {
  if (settings.createStream) captureFilter(settings, resource);
  const target = targetOf(settings, resource);
  const { stream, subject } = target.fields;
  return { target, tally: { resource, stream, subject, rows: 0, rowsWithId: 0, bytes: 0, largestMessage: 0 } };
}

/** Encodes the rows of a piece; in several parts if their bodies are too large for one. */
function* preparedPieces(source: BatchSource, piece: RowRange, target: MessageTarget): Generator<PreparedRows> {
  const end = piece.from + piece.count;
  for (let from = piece.from; from < end;) {
    const rows = prepareRows(source, { from, count: end - from }, target, true);
    from += rows.count;
    yield rows;
  }
}

function count(rows: PreparedRows, tally: Tally): void {
  tally.rows += rows.count;
  tally.bytes += rows.bodyBytes;
  tally.largestMessage = Math.max(tally.largestMessage, rows.largestMessage());
  for (let index = 0; index < rows.count; index++) tally.rowsWithId += rows.hasId(index) ? 1 : 0;
}
