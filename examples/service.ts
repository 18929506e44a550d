import { connect, Publisher } from "@jetrow/jetrow/bun";
import { tableFromJSON } from "apache-arrow";

const config = { url: Bun.env.NATS_URL ?? "nats://localhost:4222", stream: "EVENTS", subject: "events.{resource}" };
let publisher: Promise<Publisher> | undefined;

const server = Bun.serve({ // on $PORT, or 3000
  async fetch(request) { // POST /clicks with [{ "page": "/", "ms": 12 }, ...]: answered when every row is acknowledged
    const rows = tableFromJSON(await request.json() as Record<string, unknown>[]);
    publisher ??= Publisher.open(() => connect(config), config);
    return Response.json(await (await publisher).publish({ resource: new URL(request.url).pathname.slice(1), rows }));
  },
  error(error) {
    const over = /^(Publish|Connection|Route)Error$/.test(error.name);
    if (over) publisher = void publisher?.then((it) => it.close(), () => {}); // the next request opens another
    return Response.json({ code: error.code, message: error.message }, { status: over ? 503 : 400 });
  },
});
console.log(`listening on ${server.url}`);
