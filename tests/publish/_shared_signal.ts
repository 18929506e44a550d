// Publishes thirty batches, then fifteen sequences twice, concurrently with one signal, and prints Node's warnings; run by shared_signal_test.ts.
// deno-lint-ignore-file no-console
import process from "node:process";
import { connect, openRun, publishAll, Publisher } from "../../src/runtime/node.ts";
import { numberBatch } from "../_support/arrow/mod.ts";

const warnings: string[] = [];
process.on("warning", ({ name, message }) => warnings.push(`${name}: ${message}`));

const { signal } = new AbortController();
const config = { url: process.argv[2]!, stream: "ORDERS", subject: "orders.{resource}" };
const publisher = await Publisher.open(() => connect(config), config);
const calls = Array.from(
  { length: 30 },
  () => publisher.publish({ resource: "eu", rows: numberBatch(10) }, { signal }),
);
const receipts: { rows: number }[] = await Promise.all(calls);
await publisher.close();
const batch = { resource: "eu", rows: numberBatch(10) };
const dial = () => connect(config);
const loads = Array.from({ length: 15 }, () => publishAll(dial, config, [batch, batch], { budget: "30s", signal }));
receipts.push(...await Promise.all(loads));
const run = await openRun(dial, config);
const sequences = Array.from({ length: 15 }, () => run.applyAll([batch, batch], { signal }));
for (const totals of await Promise.all(sequences)) receipts.push(...totals);
await run.commit();
console.log(JSON.stringify({ rows: receipts.reduce((sum, { rows }) => sum + rows, 0), warnings }));
