import { batchesOf, connect, openRun } from "@jetrow/jetrow/deno";
import { RecordBatchReader } from "apache-arrow";

const [path, url] = Deno.args;
const config = { url: url ?? "nats://localhost:4222", stream: "ORDERS", subject: "orders.{resource}" };
const file = await Deno.open(path ?? "orders.arrow");

await using run = await openRun(() => connect(config), config);
await run.applyAll(batchesOf("eu", await RecordBatchReader.from(file.readable)));
console.log(await run.commit());
