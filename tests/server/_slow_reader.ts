// Publishes 64 MiB of rows over one connection, all of them in flight at once; run by slow_reader_test.ts on Bun.
// deno-lint-ignore-file no-console
import process from "node:process";
import { connect, Publisher } from "../../src/runtime/bun.ts";
import { sizedBatch } from "../_support/arrow/mod.ts";

const config = {
  url: process.argv[2]!,
  stream: "SLOW",
  subject: "slow",
  maxInFlight: 4096,
  maxInFlightBytes: 2 ** 27,
  publishTimeout: "60s",
};
const publisher = await Publisher.open(() => connect(config), config);
const receipt = await publisher.publish({ resource: "r", rows: sizedBatch(1024, 65_536) });
await publisher.close();
console.log(JSON.stringify(receipt));
