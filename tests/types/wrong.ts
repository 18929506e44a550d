/**
 * Checked by the type checker, and never run: what must not compile. Each line below `@ts-expect-error` has an error;
 * the check fails where there is none.
 */

import { tableFromArrays } from "apache-arrow";
import {
  type BoundedRun,
  type EpochSession,
  isJetrowError,
  type JetrowErrorCode,
  openRun,
  openSession,
  parseConfig,
  publishAll,
  type RowBatch,
  type SinkConfig,
  type WriteReceipt,
} from "../../mod.ts";
import { connect } from "../../src/runtime/web.ts";

declare const run: BoundedRun;
declare const session: EpochSession;
declare const receipt: WriteReceipt;
const rows = tableFromArrays({ id: [1] });
const config = { url: "ws://localhost", stream: "S", subject: "s" } satisfies SinkConfig;
const dial = () => connect(config);

export async function calls(): Promise<void> {
  await run.apply({ resource: "r", rows, operations: ["insert", "delete"], only: [0] });
  // @ts-expect-error: rows of plain objects are no Arrow rows
  await run.apply({ resource: "r", rows: [{ id: 1 }] });
  // @ts-expect-error: a column is no table
  await run.apply({ resource: "r", rows: rows.getChild("id")! });
  // @ts-expect-error: a batch has a resource
  await run.apply({ rows });
  // @ts-expect-error: there is no upsert
  await run.apply({ resource: "r", rows, operations: "upsert" });
  // @ts-expect-error: rows are named by number
  await run.apply({ resource: "r", rows, only: ["0"] });
  // @ts-expect-error: a batch has no stream of its own
  await run.apply({ resource: "r", rows, stream: "S" });
  // @ts-expect-error: a signal goes into an object
  await run.apply({ resource: "r", rows }, new AbortController().signal as AbortSignal);
  // @ts-expect-error: a session's apply names the epoch
  await session.apply({ resource: "r", rows });
  // @ts-expect-error: an epoch has an attempt
  await session.beginEpoch({ epoch: 1 });
  // @ts-expect-error: a session is opened for an attempt
  await openSession(dial, config);
  // @ts-expect-error: publishAll dials itself, again and again
  await publishAll(await dial(), config, [], { budget: "1s" });
  // @ts-expect-error: publishAll has a budget
  await publishAll(dial, config, [], {});
}

export async function options(): Promise<void> {
  await openRun(dial, config);
  // @ts-expect-error: a stream is required
  await openRun(dial, { subject: "s" });
  // @ts-expect-error: a key is misspelt
  await openRun(dial, { stream: "S", subject: "s", maxInflight: 1 });
  // @ts-expect-error: the JSON form is for parseConfig
  await openRun(dial, { stream: "S", subject: "s", max_in_flight: 1 });
  // @ts-expect-error: no such mode
  await openRun(dial, { stream: "S", subject: "s", publishMode: "batch" });
  // @ts-expect-error: a time to live is a text
  await openRun(dial, { stream: "S", subject: "s", ttl: 60 });
  // @ts-expect-error: a budget of time, not a count of tries
  await openRun(dial, { stream: "S", subject: "s", retry: { attempts: 3 } });
  // @ts-expect-error: an absent option is left out, not undefined
  await openRun(dial, { stream: "S", subject: "s", domain: undefined });
  // @ts-expect-error: a URL is required
  await connect({ stream: "S", subject: "s" });
  // @ts-expect-error: no such mode
  await connect({ url: "ws://localhost", authMode: "basic" });
  // @ts-expect-error: an open connection is no dial function's return value as it is
  await openRun(() => "ws://localhost", config);
}

export function readOnly(error: unknown): void {
  const parsed = parseConfig({});
  // @ts-expect-error: configurations are not changed
  parsed.stream = "T";
  // @ts-expect-error: receipts are not changed
  receipt.rows = 1;
  // @ts-expect-error: a receipt may have no sequences
  receipt.sequences.length;
  const batch: RowBatch = { resource: "r", rows };
  // @ts-expect-error: batches are not changed
  batch.resource = "s";
  // @ts-expect-error: there is no such code
  const code: JetrowErrorCode = "publish.late";
  // @ts-expect-error: an error is told apart first
  error.code;
  if (!isJetrowError(error)) return;
  // @ts-expect-error: outcomes are a PublishError's
  error.rowOutcomes;
  if (error.name === "PublishError") error.rowOutcomes.unsettled();
  // @ts-expect-error: no error has such a code, and comparing says so
  if (error.code === "publish.late") throw code;
}
