/**
 * Type-checked, never run: code that must not compile. Each line below a `@ts-expect-error` has a type error; the check
 * fails on a line that has none.
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
  // @ts-expect-error: rows must be Arrow data, not plain objects
  await run.apply({ resource: "r", rows: [{ id: 1 }] });
  // @ts-expect-error: rows must be a table or batch, not a column
  await run.apply({ resource: "r", rows: rows.getChild("id")! });
  // @ts-expect-error: resource is required
  await run.apply({ rows });
  // @ts-expect-error: "upsert" is not an operation
  await run.apply({ resource: "r", rows, operations: "upsert" });
  // @ts-expect-error: rows are selected by index
  await run.apply({ resource: "r", rows, only: ["0"] });
  // @ts-expect-error: a batch cannot choose its stream
  await run.apply({ resource: "r", rows, stream: "S" });
  // @ts-expect-error: the signal is passed in an options object
  await run.apply({ resource: "r", rows }, new AbortController().signal as AbortSignal);
  // @ts-expect-error: apply() of a session requires an epoch
  await session.apply({ resource: "r", rows });
  // @ts-expect-error: an epoch requires an attempt
  await session.beginEpoch({ epoch: 1 });
  // @ts-expect-error: opening a session requires an attempt
  await openSession(dial, config);
  // @ts-expect-error: publishAll() takes the dial function, since it reconnects, not an open connection
  await publishAll(await dial(), config, [], { budget: "1s" });
  // @ts-expect-error: publishAll() requires a budget
  await publishAll(dial, config, [], {});
}

export async function options(): Promise<void> {
  await openRun(dial, config);
  // @ts-expect-error: stream is required
  await openRun(dial, { subject: "s" });
  // @ts-expect-error: a misspelt option
  await openRun(dial, { stream: "S", subject: "s", maxInflight: 1 });
  // @ts-expect-error: the JSON document goes to parseConfig()
  await openRun(dial, { stream: "S", subject: "s", max_in_flight: 1 });
  // @ts-expect-error: not a publish mode
  await openRun(dial, { stream: "S", subject: "s", publishMode: "batch" });
  // @ts-expect-error: a time to live is a duration string
  await openRun(dial, { stream: "S", subject: "s", ttl: 60 });
  // @ts-expect-error: the budget is a duration, not a number of attempts
  await openRun(dial, { stream: "S", subject: "s", retry: { attempts: 3 } });
  // @ts-expect-error: an option is omitted, not set to undefined
  await openRun(dial, { stream: "S", subject: "s", domain: undefined });
  // @ts-expect-error: url is required
  await connect({ stream: "S", subject: "s" });
  // @ts-expect-error: not an authentication mode
  await connect({ url: "ws://localhost", authMode: "basic" });
  // @ts-expect-error: a dial function returns an open connection, not a URL
  await openRun(() => "ws://localhost", config);
}

export function readOnly(error: unknown): void {
  const parsed = parseConfig({});
  // @ts-expect-error: settings are read-only
  parsed.stream = "T";
  // @ts-expect-error: receipts are read-only
  receipt.rows = 1;
  // @ts-expect-error: a receipt's sequences may be absent
  receipt.sequences.length;
  const batch: RowBatch = { resource: "r", rows };
  // @ts-expect-error: batches are read-only
  batch.resource = "s";
  // @ts-expect-error: not an error code
  const code: JetrowErrorCode = "publish.late";
  // @ts-expect-error: the error's class must be checked first
  error.code;
  if (!isJetrowError(error)) return;
  // @ts-expect-error: only PublishError has outcomes
  error.rowOutcomes;
  if (error.name === "PublishError") error.rowOutcomes.unsettled();
  // @ts-expect-error: not an error code, so it never equals one
  if (error.code === "publish.late") throw code;
}
