import { connect, Publisher } from "@jetrow/jetrow/bun";
import { tableFromJSON } from "apache-arrow";

const config = { url: Bun.env.NATS_URL ?? "nats://localhost:4222", stream: "EVENTS", subject: "events.{resource}" };
let publisher: Promise<Publisher> | undefined;

const server = Bun.serve({ // on $PORT, or 3000
  async fetch(request) { // POST /clicks with [{ "page": "/", "ms": 12 }, ...]
    const rows = tableFromJSON(await request.json() as Record<string, unknown>[]);
    publisher ??= Publisher.open(() => connect(config), config);
    const receipt = await (await publisher).publish({ resource: new URL(request.url).pathname.slice(1), rows });
    return Response.json(receipt); // every row is acknowledged
  },
  error(error) {
    if (/^(Publish|Connection)Error$/.test(error.name)) publisher = undefined; // over: the next request opens another
    return Response.json({ code: error.code, message: error.message }, { status: 503 });
  },
});
console.log(`listening on ${server.url}`);
