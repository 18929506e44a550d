import { connect, Publisher, rowsOf } from "@jetrow/jetrow/bun";

const config = { url: Bun.env.NATS_URL ?? "nats://localhost:4222", stream: "EVENTS", subject: "events.{resource}" };
let publisher: Promise<Publisher> | undefined;
const forget = () => publisher = undefined; // the next request opens another

const server = Bun.serve({ // on $PORT, or 3000
  async fetch(request) { // POST /clicks with [{ "page": "/", "ms": 12 }, ...]: answered when every row is acknowledged
    const rows = rowsOf(await request.json() as object[], { page: "utf8", ms: "int32", at: "timestamp" });
    if (publisher === undefined) {
      publisher = Publisher.open(() => connect(config), config);
      publisher.then((opened) => opened.closed()).then(forget, forget);
    }
    return Response.json(await (await publisher).publish({ resource: new URL(request.url).pathname.slice(1), rows }));
  },
  error: ({ code = "", message }: Error & { code?: string }) =>
    Response.json({ code, message }, { status: /^(publish|connection|route\.(?!subject))/.test(code) ? 503 : 400 }),
});
console.log(`listening on ${server.url}`);
