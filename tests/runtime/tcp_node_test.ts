import * as transport from "@nats-io/transport-node";
import * as internals from "@nats-io/transport-node/lib/node_transport.js";
import assert from "node:assert/strict";
import { makeConnect } from "../../src/runtime/tcp_node.ts";
import { isExtensible, OVERRIDDEN, witnessedTransport } from "../../src/runtime/witnessed_transport.ts";
import { startNatsServer } from "../_support/nats/mod.ts";

const { NodeTransport, nodeResolveHost } = internals;

/** The private class as another version may have it: with one method missing. */
function without(method: string): unknown {
  const stub = class {
    readonly yields = [];
    readonly tlsName = "";
  };
  for (const name of OVERRIDDEN) {
    if (name !== method) Object.defineProperty(stub.prototype, name, { value: () => {} });
  }
  return stub;
}

Deno.test("makeConnect() extends the private transport of the pinned version", () => {
  assert.ok(isExtensible(NodeTransport));
  assert.notEqual(makeConnect(transport as never, internals), transport.connect);
  const own = Object.getOwnPropertyNames(witnessedTransport(NodeTransport).prototype);
  assert.deepEqual(own.filter((name) => name !== "constructor").sort(), [...OVERRIDDEN].sort());
});

Deno.test("makeConnect() falls back to the public connect() if anything private is missing", async (t) => {
  const modules: Record<string, unknown> = {
    "no module": undefined,
    "an empty module": {},
    "no class": { nodeResolveHost },
    "a class that is a function": { nodeResolveHost, NodeTransport: () => {} },
    "a class without fields": { nodeResolveHost, NodeTransport: class {} },
    "no look-up of hosts": { NodeTransport },
    ...Object.fromEntries(
      OVERRIDDEN.map((name) => [`no ${name}()`, { nodeResolveHost, NodeTransport: without(name) }]),
    ),
  };
  for (const [name, module] of Object.entries(modules)) {
    await t.step(name, () => assert.equal(makeConnect(transport as never, module), transport.connect));
  }
  const { connect, NatsConnectionImpl, setTransportFactory } = transport;
  await t.step("no factory", () => {
    assert.equal(makeConnect({ connect, NatsConnectionImpl } as never, internals), connect);
    assert.equal(makeConnect({ connect, setTransportFactory } as never, internals), connect);
  });
  assert.ok(isExtensible(without("nothing")));
});

Deno.test("makeConnect() reaches a server also without the private module", async () => {
  await using server = await startNatsServer({ jetstream: false });
  const nc = await makeConnect(transport as never, undefined)({ servers: [server.url] });
  await nc.flush();
  await nc.close();
});
