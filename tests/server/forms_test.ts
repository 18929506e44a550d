import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { connect, encodeRows, type JsonForms, messageId, Publisher, verifyReceipt } from "../../src/runtime/deno.ts";
import { batchOf, bodyStrings, type Column, makeColumn, textColumn } from "../_support/arrow/mod.ts";
import { addStream, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";

const scope = {
  tenant: "",
  pipeline: "",
  sinkConnection: "",
  stream: "ORDERS",
  subject: "orders",
  resource: "eu",
};

const json: JsonForms = { int64: "string", nulls: "omit", columns: { price: { decimal: "string" } } };

function orders(rows: number): arrow.RecordBatch {
  const ids = Array.from({ length: rows }, (_, i) => `e${i}`);
  const big = ids.map((_, i) => i % 2 === 0 ? BigInt(i) : null);
  const n: Column = {
    name: "n",
    data: makeColumn(new arrow.Int64(), big, { values: BigInt64Array.from(big, (value) => value ?? 0n) }),
  };
  const words = new Int32Array(4 * rows).map((_, at) => at % 4 === 0 ? 150 + at : 0);
  const price: Column = { name: "price", data: makeColumn(new arrow.Decimal(2, 18), ids, { values: words }) };
  return batchOf([textColumn("_filament_event_id", ids), n, price]);
}

Deno.test("every publish mode stores rows in their forms, with the ids of the default forms", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const rows = orders(5);
  const expected = bodyStrings(encodeRows(rows, { json }));
  assert.equal(expected[1], '{"_filament_event_id":"e1","price":"1.54"}');
  const modes = [["individual", "2.10.0"], ["atomic", "2.12.0"], ["fast", "2.14.0"]] as const;
  for (const [publishMode, needs] of modes) {
    if (olderThan(needs, server, publishMode)) continue;
    const flags = { allow_atomic: publishMode === "atomic", allow_batched: publishMode === "fast" };
    await addStream(
      nc,
      { name: "ORDERS", subjects: ["orders"], ...(publishMode === "individual" ? {} : flags) } as never,
    );
    const publisher = await Publisher.open(nc, { stream: "ORDERS", subject: "orders", publishMode, json });
    const receipt = await publisher.publish({ resource: "eu", rows });
    await publisher.close();
    const stored = await storedIn(nc, "ORDERS");
    assert.deepEqual(stored.map(({ body }) => body), expected, publishMode);
    assert.deepEqual(
      stored.map(({ headers }) => headers.find(([name]) => name === "Nats-Msg-Id")?.[1]),
      Array.from({ length: 5 }, (_, i) => messageId(scope, `e${i}`)),
    );
    assert.equal(receipt.crc32c, encodeRows(rows, { json }).crc32c);
    if (publishMode !== "fast") assert.equal((await verifyReceipt(nc, receipt)).ok, true);
    await nc.request("$JS.API.STREAM.DELETE.ORDERS", "", { timeout: 30_000 });
  }
});
