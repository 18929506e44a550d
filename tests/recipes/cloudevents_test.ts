import assert from "node:assert/strict";
import { Float64, TimestampMillisecond, Utf8 } from "apache-arrow";
import { type CloudEvent, HTTP } from "cloudevents";
import { connect, Publisher, rowsOf } from "../../src/runtime/deno.ts";
import { startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

testRecipe("CloudEvents", ["EVENTS"], {
  "events.arrow": {
    objects: [{
      id: "e1",
      type: "com.example.order.placed",
      shop: "berlin",
      at: new Date("2026-01-31T09:00:00Z"),
      total: 12.5,
    }],
    types: {
      id: new Utf8(),
      type: new Utf8(),
      shop: new Utf8(),
      at: new TimestampMillisecond("UTC"),
      total: new Float64(),
    },
  },
});

Deno.test("each attribute is one header, and a null omits an optional attribute", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, {
    stream: "EVENTS",
    subject: "events",
    headers: {
      "ce-specversion": "1.0",
      "ce-id": "{row.id}",
      "ce-type": "t",
      "ce-source": "/{row.source|unknown}",
      "ce-subject": "{row.subject}",
      "ce-datacontenttype": "text/plain",
    },
    rawBodyColumn: "data",
    contentType: "text/plain",
  });
  const rows = rowsOf([
    { id: "1", source: "a", subject: "Z%C3%BCrich", data: "x" },
    { id: "2", data: "y" },
  ], { id: "utf8", source: "utf8", subject: "utf8", data: "utf8" });
  await publisher.publish({ resource: "r", rows });

  const stored = await storedIn(nc, "EVENTS");
  const attributes = stored.map(({ headers }) => headers.filter(([name]) => name.startsWith("ce-")));
  const common = [["ce-type", "t"]];
  assert.deepEqual(attributes, [
    [
      ["ce-specversion", "1.0"],
      ["ce-id", "1"],
      ...common,
      ["ce-source", "/a"],
      ["ce-subject", "Z%C3%BCrich"], // percent-encoded in the column already, as the binding requires
      ["ce-datacontenttype", "text/plain"],
    ],
    [
      ["ce-specversion", "1.0"],
      ["ce-id", "2"],
      ...common,
      ["ce-source", "/unknown"],
      ["ce-datacontenttype", "text/plain"],
    ],
  ]);
  for (const { headers, body } of stored) {
    const event = HTTP.toEvent({ headers: Object.fromEntries(headers.map(([n, v]) => [n.toLowerCase(), v])), body });
    assert.ok((event as CloudEvent).validate());
    assert.equal((event as CloudEvent).data, body);
  }
});

Deno.test("a column of events as JSON is the structured mode", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, {
    stream: "EVENTS",
    subject: "events",
    rawBodyColumn: "event",
    contentType: "application/cloudevents+json",
  });
  const event = { specversion: "1.0", id: "1", type: "t", source: "/a b", data: { total: 12.5 } };
  await publisher.publish({ resource: "r", rows: rowsOf([{ event: JSON.stringify(event) }], { event: "utf8" }) });
  const [stored] = await storedIn(nc, "EVENTS");
  const headers = Object.fromEntries(stored!.headers.map(([name, value]) => [name.toLowerCase(), value]));
  const { id, source, data } = HTTP.toEvent({ headers, body: stored!.body }) as CloudEvent;
  assert.deepEqual({ id, source, data }, { id: "1", source: "/a b", data: { total: 12.5 } });
});
