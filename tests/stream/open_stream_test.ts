import assert from "node:assert/strict";
import { Publisher, type RouteError } from "../../mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { ack, apiError, type Document, type FakeConnection, fakeConnection, streamInfo } from "../_support/fake/mod.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };
const INFO = "$JS.API.STREAM.INFO.ORDERS";
const CREATE = "$JS.API.STREAM.CREATE.ORDERS";

/** A server on which another client creates the stream first: it is missing, creating it fails, then it exists. */
function lostRace(config: Document = {}): FakeConnection {
  let created = false;
  return fakeConnection({
    requests: ({ subject }) => {
      if (subject === CREATE) {
        created = true;
        return apiError(
          "stream_create_response",
          400,
          10058,
          "stream name already in use with a different configuration",
        );
      }
      return created ? streamInfo("ORDERS", config) : apiError("stream_info_response", 404, 10059, "stream not found");
    },
  });
}

Deno.test("openStream() uses a stream that another client created first, and does not report it as created", async () => {
  const fake = lostRace();
  const publisher = await Publisher.open(fake.nc, OPTIONS);
  assert.deepEqual(fake.asked.map(({ subject }) => subject), [INFO, CREATE, INFO]);
  assert.deepEqual(publisher.stats().created, []);
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(2) })).rows, 2);
  await publisher.close();
});

Deno.test("openStream() checks a stream that another client created first like any other", async () => {
  await assert.rejects(Publisher.open(lostRace({ no_ack: true }).nc, OPTIONS), { code: "route.no_ack" });
  await assert.rejects(Publisher.open(lostRace({ subjects: ["other.>"] }).nc, OPTIONS), { code: "route.not_captured" });
});

Deno.test("openStream() throws a RouteError with stream, filter and the server's reason if creation is refused", async () => {
  const fake = fakeConnection({
    requests: ({ subject }) =>
      subject === CREATE
        ? apiError("stream_create_response", 400, 10027, "maximum number of streams reached")
        : apiError("stream_info_response", 404, 10059, "stream not found"),
  });
  await assert.rejects(Publisher.open(fake.nc, OPTIONS), (error: RouteError) => {
    assert.deepEqual([error.name, error.code, error.stream, error.subject], [
      "RouteError",
      "route.create",
      "ORDERS",
      "orders.>",
    ]);
    assert.match(error.message, /maximum number of streams reached.*10027/);
    return true;
  });
  assert.deepEqual(JSON.parse(fake.asked.at(-1)!.body), { name: "ORDERS", subjects: ["orders.>"], storage: "file" });
});

Deno.test("openStream() refuses a shared stream that would capture JetStream's API, and names no resource", async () => {
  const fake = fakeConnection({ requests: () => apiError("stream_info_response", 404, 10059, "stream not found") });
  await assert.rejects(Publisher.open(fake.nc, { stream: "ALL", subject: "{resource}" }), (error: RouteError) => {
    assert.deepEqual([error.code, error.resource, error.stream, error.subject], [
      "route.create",
      undefined,
      "ALL",
      ">",
    ]);
    return true;
  });
  assert.deepEqual(fake.asked.map(({ subject }) => subject), ["$JS.API.STREAM.INFO.ALL"]);
});

Deno.test("stats() names the last hundred created streams without copying them", async () => {
  const missing = apiError("stream_info_response", 404, 10059, "stream not found");
  const { nc } = fakeConnection({
    requests: ({ subject, body }) =>
      subject.includes("STREAM.INFO") ? missing : {
        ...streamInfo(JSON.parse(body).name, JSON.parse(body)),
        type: "io.nats.jetstream.api.v1.stream_create_response",
      },
    answers: ({ subject }) => ack(subject.split(".")[1]!, 1),
  });
  const publisher = await Publisher.open(nc, { stream: "{resource}", subject: "rows.{resource}" });
  for (let i = 0; i < 120; i++) await publisher.publish({ resource: `S${i}`, rows: numberBatch(1) });
  const { created } = publisher.stats();
  assert.deepEqual([created.length, created[0], created.at(-1)], [100, "S20", "S119"]);
  assert.equal(publisher.stats().created, created);
  await publisher.close();
});
