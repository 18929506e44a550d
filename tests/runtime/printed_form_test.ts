import assert from "node:assert/strict";
import { inspect } from "node:util";
import { startNatsServer } from "../_support/nats/mod.ts";
import { connect } from "./_dialling.ts";

Deno.test("a connection is printed as its server, by every printer and at any depth", async () => {
  await using server = await startNatsServer({ jetstream: false, websocket: true });
  for (const url of [server.url, server.wsUrl]) {
    const nc = await connect({ url });
    const printed = [
      inspect(nc, { depth: 12, showHidden: true }),
      inspect({ nc }, { depth: 12 }),
      Deno.inspect(nc, { depth: 12 }),
      JSON.stringify({ nc }),
      String(nc),
    ];
    const { host } = new URL(url.replace(/^\w+/, "http"));
    for (const text of printed.slice(0, 4)) assert.ok(text.includes(host) && text.length < 120, text);
    assert.equal(printed[4], "[object Object]");
    assert.deepEqual(Object.keys(nc).filter((name) => name === "toJSON"), []);
    await nc.close();
    assert.equal(JSON.stringify(nc), '{"server":"","closed":true}');
  }
});
