import assert from "node:assert/strict";
import { Int32, Utf8 } from "apache-arrow";
import { connect, Publisher, rowsOf } from "../../src/runtime/deno.ts";
import { addStream, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

const types = { tenant: new Utf8(), region: new Utf8(), total: new Int32() };
testRecipe("A stream per tenant", ["SALES_acme", "SALES_globex"], {
  "acme.arrow": {
    objects: [{ tenant: "acme", region: "eu", total: 1 }, { tenant: "acme", region: "us", total: 3 }],
    types,
  },
  "globex.arrow": { objects: [{ tenant: "globex", region: "us", total: 2 }], types },
});

Deno.test("only the tenant without a stream, or with an invalid stream name, is refused", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "SALES_acme", subjects: ["sales.acme.*"] });
  await using publisher = await Publisher.open(nc, {
    stream: "SALES_{resource}",
    subject: "sales.{resource}.{row.region}",
    createStream: false,
  });
  const rows = rowsOf([{ region: "eu" }], { region: "utf8" });
  await assert.rejects(publisher.publish({ resource: "amce", rows }), { code: "route.missing" });
  await assert.rejects(publisher.publish({ resource: "ac.me", rows }), { code: "route.stream_name" });
  await publisher.publish({ resource: "acme", rows });
  assert.equal((await storedIn(nc, "SALES_acme")).length, 1);
});
