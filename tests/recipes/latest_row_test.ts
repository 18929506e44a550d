import assert from "node:assert/strict";
import { Int32, Utf8 } from "apache-arrow";
import { connect, inspect, Publisher, rowsOf, verifyReceipt } from "../../src/runtime/deno.ts";
import { addStream, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

testRecipe("The latest row of each entity", ["DEVICES"], {
  "devices.arrow": {
    objects: [
      { id: 7, version: 1, state: "off" },
      { id: 8, version: 1, state: "off" },
      { id: 7, version: 2, state: "on" },
    ],
    types: { id: new Int32(), version: new Int32(), state: new Utf8() },
  },
});

const OPTIONS = { stream: "DEVICES", subject: "devices.{row.id}" };
const TYPES = { id: "int32", version: "int32" } as const;
const ROWS = [{ id: 7, version: 1 }, { id: 8, version: 1 }, { id: 7, version: 2 }];

for (
  const { eventIdColumn, bodies } of [
    { eventIdColumn: ["id", "version"], bodies: ['{"id":8,"version":1}', '{"id":7,"version":2}'] },
    { eventIdColumn: "id", bodies: ['{"id":7,"version":1}', '{"id":8,"version":1}'] },
  ]
) {
  Deno.test(`with the id of ${eventIdColumn}, a replay changes nothing, and the stream keeps ${bodies}`, async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await addStream(nc, { name: "DEVICES", subjects: ["devices.*"], max_msgs_per_subject: 1 });
    const options = { ...OPTIONS, eventIdColumn };
    for (const attempt of [1, 2]) {
      for (const row of ROWS) {
        await using publisher = await Publisher.open(() => connect({ url: server.url }), options);
        const receipt = await publisher.publish({ resource: "devices", rows: rowsOf([row], TYPES) });
        if (attempt === 2) assert.equal(receipt.duplicates, 1);
      }
      assert.deepEqual((await storedIn(nc, "DEVICES")).map(({ body }) => body), bodies);
    }
  });
}

Deno.test("with the id of the entity alone, two of its rows in one batch are refused", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, { ...OPTIONS, eventIdColumn: "id" });
  const published = publisher.publish({ resource: "devices", rows: rowsOf(ROWS, TYPES) });
  await assert.rejects(published, { code: "encode.duplicate_id", row: 2 });
});

Deno.test("verifyReceipt counts replaced rows as missing, and inspect warns of their removal", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "DEVICES", subjects: ["devices.*"], max_msgs_per_subject: 1 });
  await using publisher = await Publisher.open(nc, OPTIONS);
  const receipt = await publisher.publish({ resource: "devices", rows: rowsOf(ROWS, TYPES) });
  const { ok, missing } = await verifyReceipt(nc, receipt);
  assert.deepEqual([ok, missing], [false, 1]);
  assert.ok((await inspect(nc, OPTIONS)).some(({ code }) => code === "stream.discard_old"));
});
