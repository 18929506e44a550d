import { readArrow } from "@jetrow/jetrow/arrow";
import { batchesOf, connect, openRun } from "@jetrow/jetrow/deno";

const [path, url] = Deno.args;
const config = { url: url ?? "nats://localhost:4222", stream: "ORDERS", subject: "orders.{resource}" };
const file = await Deno.readFile(path ?? "orders.arrow");

await using run = await openRun(() => connect(config), config);
await run.applyAll(batchesOf("eu", readArrow(file)));
console.log(await run.commit());
