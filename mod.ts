/**
 * jetrow publishes every row of Apache Arrow record batches as an acknowledged JSON message to NATS JetStream.
 *
 * This entry takes any NATS connection; `./deno`, `./bun`, `./node` and `./web` add a `connect` for their runtime.
 *
 * ```ts
 * import { connect, openRun } from "@jetrow/jetrow/deno";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function load(url: string): Promise<number> {
 *   const config = { url, stream: "ORDERS", subject: "orders.{resource}" };
 *   await using run = await openRun(() => connect(config), config);
 *   await run.apply({ resource: "eu", rows: tableFromArrays({ id: [1, 2, 3] }) });
 *   return (await run.commit()).rows;
 * }
 * assert.ok(typeof load === "function");
 * ```
 *
 * @module
 */

export * from "./src/types/mod.ts";
export * from "./src/errors/mod.ts";
export * from "./src/subject/mod.ts";
export { capabilities, type SinkCapabilities } from "./src/capabilities.ts";
export { parseConfig } from "./src/options/document.ts";
export { parseCreds } from "./src/options/creds.ts";
export { parseDuration } from "./src/util/duration.ts";
export { encodeRows, type EncodeRowsOptions } from "./src/json/encode.ts";
export { rowsOf } from "./src/arrow/rows_of.ts";
export { sliceRows } from "./src/arrow/slice.ts";
export { sliceBatch } from "./src/message/slice_batch.ts";
export { crc32c } from "./src/hash/crc32c.ts";
export { messageId, messageIdentity } from "./src/hash/message_id.ts";
export { Publisher } from "./src/publish/publisher.ts";
export { BoundedRun, openRun } from "./src/lifecycle/run.ts";
export { EpochSession, openSession } from "./src/lifecycle/session.ts";
export { publishAll, type PublishAllOptions } from "./src/lifecycle/publish_all.ts";
export { batchesOf } from "./src/lifecycle/batches_of.ts";
export { type ConnectionTest, type JetStreamUse, testConnection } from "./src/stream/test_connection.ts";
export type { InspectOptions, ReadingOptions } from "./src/options/reading.ts";
export { inspect } from "./src/stream/checks/inspect.ts";
export type { Finding, FindingCode, Severity } from "./src/stream/checks/finding.ts";
export { type Verification, verifyReceipt } from "./src/stream/verify/verify.ts";
