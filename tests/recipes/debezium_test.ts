import assert from "node:assert/strict";
import { Int32, Int64, Utf8 } from "apache-arrow";
import { connect, Publisher, rowsOf } from "../../src/runtime/deno.ts";
import { infoOf, startNatsServer } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

testRecipe("Debezium's operations", ["CUSTOMERS"], {
  "customers.arrow": {
    objects: [
      { id: 1, name: "Ada", __op: "r", __lsn: 100n },
      { id: 2, name: "Bo", __op: "c", __lsn: 101n },
      { id: 1, name: "Ada L.", __op: "u", __lsn: 102n },
      { id: 2, name: null, __op: "d", __lsn: 103n },
    ],
    types: { id: new Int32(), name: new Utf8(), __op: new Utf8(), __lsn: new Int64() },
  },
});

Deno.test("a letter that is not mapped refuses its batch before anything is sent", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, {
    stream: "CUSTOMERS",
    subject: "customers.{row.id}",
    operationColumn: "__op",
    operationValues: { r: "insert", c: "insert", u: "update", d: "delete" },
  });
  for (const __op of ["t", "m", "insert", "C", "", null]) {
    const rows = rowsOf([{ id: 1, __op: "c" }, { id: 2, __op }], { id: "int32", __op: "utf8" });
    await assert.rejects(publisher.publish({ resource: "customers", rows }), { code: "encode.operations", row: 1 });
  }
  assert.equal((await infoOf(nc, "CUSTOMERS")).state.messages, 0);
});
