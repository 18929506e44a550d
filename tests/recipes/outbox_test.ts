import assert from "node:assert/strict";
import { Int64, Utf8 } from "apache-arrow";
import { connect, type Options, Publisher, rowsOf } from "../../src/runtime/deno.ts";
import { startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

testRecipe("An outbox table", ["OUTBOX"], {
  "outbox.arrow": {
    objects: [
      { id: 1n, aggregate_type: "order", aggregate_id: "A1", event_type: "placed", payload: '{"total":12.50}' },
      { id: 2n, aggregate_type: "customer", aggregate_id: "77", event_type: "joined", payload: '{"name":"Ada"}' },
      { id: 3n, aggregate_type: "order", aggregate_id: "A1", event_type: "paid", payload: '{"by":"card"}' },
    ],
    types: {
      id: new Int64(),
      aggregate_type: new Utf8(),
      aggregate_id: new Utf8(),
      event_type: new Utf8(),
      payload: new Utf8(),
    },
  },
});

const OPTIONS: Options = {
  stream: "OUTBOX",
  subject: "outbox.{row.type}",
  eventIdColumn: "id",
  rawBodyColumn: "payload",
  contentType: "application/json",
};
const rows = rowsOf([{ id: 1, type: "order", payload: "{}" }, { id: 2, type: "order", payload: null }], {
  id: "int64",
  type: "utf8",
  payload: "utf8",
});

Deno.test("an outbox that is published again stores nothing twice", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  for (const duplicates of [0, 2]) {
    await using publisher = await Publisher.open(nc, OPTIONS);
    assert.equal((await publisher.publish({ resource: "outbox", rows })).duplicates, duplicates);
  }
  assert.deepEqual((await storedIn(nc, "OUTBOX")).map(({ body }) => body), ["{}", ""]);
});

Deno.test("two outboxes with the same keys are kept apart by subject, resource or namespace", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const outboxes: readonly (readonly [resource: string, over: Partial<Options>])[] = [
    ["outbox", {}],
    ["outbox", { subject: "outbox.b.{row.type}" }],
    ["outbox_b", {}],
    ["outbox", { namespace: { pipeline: "b" } }],
  ];
  await (await Publisher.open(nc, { ...OPTIONS, subject: "outbox.{resource}.{row.type}" })).close();
  for (const [resource, over] of outboxes) {
    await using publisher = await Publisher.open(nc, { ...OPTIONS, subject: "outbox.a.{row.type}", ...over });
    assert.equal((await publisher.publish({ resource, rows })).duplicates, 0, `${resource} ${JSON.stringify(over)}`);
  }
  assert.equal((await storedIn(nc, "OUTBOX")).length, 8);
});
