import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import type { NatsConnection } from "@nats-io/nats-core";
import {
  type ArrowRows,
  connect,
  inspect,
  isJetrowError,
  openRun,
  openSession,
  type Options,
  publishAll,
  Publisher,
  type PublishMode,
  verifyReceipt,
  type WriteReceipt,
} from "../../src/runtime/deno.ts";
import {
  addStream,
  createConsumer,
  infoOf,
  natsServerVersion,
  olderThan,
  startNatsServer,
  storedIn,
} from "../_support/nats/mod.ts";
import { theOne } from "./_findings.ts";

const version = await natsServerVersion();
const MODES: readonly (readonly [mode: PublishMode, since: string])[] = [
  ["individual", "2.9.0"],
  ["atomic", "2.12.1"],
  ["fast", "2.14.0"],
];

function inEachMode(what: string, test: (nc: NatsConnection, publishMode: PublishMode) => Promise<void>): void {
  for (const [mode, since] of MODES) {
    Deno.test({
      name: `${what} (${mode})`,
      ignore: olderThan(since, version, `${mode}: ${what}`),
      fn: async () => {
        await using server = await startNatsServer();
        await using nc = await connect({ url: server.url });
        await test(nc, mode);
      },
    });
  }
}

const strings = (values: readonly (string | null)[]): arrow.Vector => arrow.vectorFromArray(values, new arrow.Utf8());

/** Rows with a region, a number and an id; there are few regions. */
function ordersOf(count: number, first = 0): ArrowRows {
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  return new arrow.Table({
    _filament_event_id: strings(numbers.map((n) => `order ${n}`)),
    region: strings(numbers.map((n) => ["eu", "us", "apac"][n % 3]!)),
    n: arrow.vectorFromArray(numbers, new arrow.Int32()),
  }) as unknown as ArrowRows;
}

const OPTIONS: Options = {
  stream: "ORDERS",
  subject: "orders.{resource}.{row.region}",
  headers: { "X-Number": "{row.n}" },
  bodyColumns: { omit: ["region"] },
};

const expectedOf = (count: number) =>
  Array.from({ length: count }, (_, n) => [
    `orders.shop.${["eu", "us", "apac"][n % 3]}`,
    `{"_filament_event_id":"order ${n}","n":${n}}`,
    `${n}`,
  ]);

async function storedOrders(nc: NatsConnection): Promise<(string | undefined)[][]> {
  const stored = await storedIn(nc, "ORDERS");
  return stored.map(({ subject, body, headers }) => [subject, body, new Map(headers).get("X-Number")]);
}

inEachMode("each row goes to its own subject, in order, with its own header", async (nc, publishMode) => {
  await using publisher = await Publisher.open(nc, { ...OPTIONS, publishMode });
  const receipt = await publisher.publish({ resource: "shop", rows: ordersOf(200) });
  assert.deepEqual([receipt.rows, receipt.subject], [200, "orders.shop.*"]);
  assert.deepEqual((await infoOf(nc, "ORDERS")).config.subjects, ["orders.*.*"]);
  assert.deepEqual(await storedOrders(nc), expectedOf(200));
});

inEachMode("a replay is dropped by id, whatever subject the row has now", async (nc, publishMode) => {
  const config = { url: "", ...OPTIONS, publishMode };
  for (const region of ["eu", "us"]) {
    await using publisher = await Publisher.open(nc, config);
    const rows = new arrow.Table({
      _filament_event_id: strings(["a", "b"]),
      region: strings([region, region]),
      n: arrow.vectorFromArray([1, 2], new arrow.Int32()),
    }) as unknown as ArrowRows;
    await publisher.publish({ resource: "shop", rows });
  }
  assert.deepEqual((await storedOrders(nc)).map(([subject]) => subject), ["orders.shop.eu", "orders.shop.eu"]);
});

inEachMode("runs, only, pieces and verifyReceipt work with a subject per row", async (nc, publishMode) => {
  const receipts: WriteReceipt[] = [];
  await using run = await openRun(nc, { ...OPTIONS, publishMode, maxInFlight: 64 });
  const rows = ordersOf(500);
  const only = Array.from({ length: 250 }, (_, i) => 2 * i);
  await run.applyAll([{ resource: "shop", rows, only }], {
    batchMaxRows: 100,
    onReceipt: (receipt) => void receipts.push(receipt),
  });
  const total = await run.commit();
  assert.equal(total.rows, 250);
  assert.deepEqual(await storedOrders(nc), expectedOf(500).filter((_, n) => n % 2 === 0));
  if (publishMode === "fast") return;
  for (const receipt of receipts) {
    assert.deepEqual(await verifyReceipt(nc, receipt), {
      ok: true,
      rows: receipt.rows,
      bytes: receipt.bytes,
      crc32c: receipt.crc32c,
      missing: 0,
    });
  }
});

inEachMode("the epochs of a session have a subject per row", async (nc, publishMode) => {
  await using session = await openSession(nc, { ...OPTIONS, publishMode }, "a");
  const ref = { attempt: "a", epoch: 1 };
  await session.beginEpoch(ref);
  await session.apply({ resource: "shop", rows: ordersOf(30) }, ref);
  assert.deepEqual((await session.commitEpoch(ref)).map(({ rows }) => rows), [30]);
  assert.deepEqual(await storedOrders(nc), expectedOf(30));
  await session.close();
});

inEachMode("a bad row refuses its batch before anything is sent", async (nc, publishMode) => {
  await using publisher = await Publisher.open(nc, { ...OPTIONS, publishMode });
  await publisher.publish({ resource: "shop", rows: ordersOf(3) });
  for (
    const [region, code] of [["e.u", "encode.subject"], [null, "encode.subject"], ["e u", "encode.subject"]] as const
  ) {
    const rows = new arrow.Table({
      region: strings([...Array.from({ length: 99 }, () => "eu"), region]),
      n: arrow.vectorFromArray(Array.from({ length: 100 }, (_, i) => i), new arrow.Int32()),
    }) as unknown as ArrowRows;
    await assert.rejects(publisher.publish({ resource: "shop", rows }), { code, row: 99, column: "region" });
  }
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 3);
});

inEachMode("a subject that the stream does not capture refuses the piece, with the row", async (nc, publishMode) => {
  const flags = { allow_atomic: publishMode === "atomic", allow_batched: publishMode === "fast" };
  await addStream(nc, { name: "ORDERS", subjects: ["orders.shop.eu", "orders.shop.us"], ...flags } as never);
  await using publisher = await Publisher.open(nc, { ...OPTIONS, publishMode });
  const error = await publisher.publish({ resource: "shop", rows: ordersOf(9) }).catch((error) => error);
  assert.ok(isJetrowError(error, "route.not_captured"), String(error));
  const { row, subject, stream, resource } = error;
  assert.deepEqual({ row, subject, stream, resource }, {
    row: 2,
    subject: "orders.shop.apac",
    stream: "ORDERS",
    resource: "shop",
  });
  assert.equal(
    error.message,
    'Cannot publish row 2 to stream "ORDERS" (subject "orders.shop.apac"): the stream does not capture this subject: its ' +
      "subjects are orders.shop.eu, orders.shop.us. Add the subject to the stream, or change the row.",
  );
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 0);
  await publisher.publish({ resource: "shop", rows: ordersOf(9), only: [0, 1, 3, 4] });
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 4);
});

Deno.test("a filter that was added to the stream after opening is found before a row is refused", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.shop.eu", "orders.shop.us"] });
  await using publisher = await Publisher.open(nc, OPTIONS);
  await publisher.publish({ resource: "shop", rows: ordersOf(2) });
  const { streams } = await (await import("@nats-io/jetstream")).jetstreamManager(nc);
  await streams.update("ORDERS", { subjects: ["orders.shop.>"] });
  await publisher.publish({ resource: "shop", rows: ordersOf(9) });
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 9);
});

Deno.test("publishAll() with row subjects and composite ids publishes each row once over two connections", async () => {
  await using server = await startNatsServer();
  const rows = ordersOf(1000);
  const options: Options = { ...OPTIONS, eventIdColumn: ["region", "n"] };
  for (let run = 0; run < 2; run++) {
    const receipt = await publishAll(() => connect({ url: server.url }), options, [{ resource: "shop", rows }], {
      budget: "30s",
    });
    assert.deepEqual([receipt.rows, receipt.duplicates], [1000, run * 1000]);
  }
  await using nc = await connect({ url: server.url });
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 1000);
});

Deno.test({
  name: "an atomic batch of several subjects is refused if servers may store a part of it",
  ignore: olderThan("2.12.1", version, "atomic batches"),
  fn: async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    const perSubject = { discard: "new", discard_new_per_subject: true, max_msgs_per_subject: 1, allow_atomic: true };
    await addStream(nc, { name: "ORDERS", subjects: ["orders.>"], max_msgs: 100, ...perSubject } as never);
    const atomic: Options = { ...OPTIONS, publishMode: "atomic" };
    const error = await Publisher.open(nc, atomic).catch((error) => error);
    assert.ok(isJetrowError(error, "route.batch_flag"), String(error));
    assert.match(
      error.message,
      /: discard_new_per_subject is true, max_msgs is 100 and subject is orders\..*row\.region\}: /,
    );
    assert.equal(theOne(await inspect(nc, atomic), "stream.batch_flag").field, "discard_new_per_subject");
    await using individual = await Publisher.open(nc, OPTIONS);
    assert.equal((await individual.publish({ resource: "shop", rows: ordersOf(3) })).rows, 3);
    // With one subject, and without a limit of the whole stream, servers count correctly and refuse the whole batch.
    await addStream(nc, { name: "UNLIMITED", subjects: ["unlimited.>"], ...perSubject } as never);
    for (
      const options of [
        { ...atomic, subject: "orders.{resource}" },
        { ...atomic, stream: "UNLIMITED", subject: "unlimited.{row.region}" },
      ]
    ) {
      await using publisher = await Publisher.open(nc, options);
      await assert.rejects(publisher.publish({ resource: "shop", rows: ordersOf(6) }), { code: "publish.rejected" });
      assert.equal((await infoOf(nc, options.stream)).state.messages, options.stream === "ORDERS" ? 3 : 0);
    }
  },
});

Deno.test("inspect() checks the pattern of row subjects, and limits per subject", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.>"], max_msgs_per_subject: 1 });
  const perSubject = (options: Options) => inspect(nc, options, { resource: "shop" });
  const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);
  assert.ok(!codes(await perSubject(OPTIONS)).includes("stream.subject_limit"));
  const fixed = await perSubject({ stream: "ORDERS", subject: "orders.shop" });
  assert.notDeepEqual(codes(fixed), codes(await perSubject(OPTIONS)));
  await addStream(nc, {
    name: "CAPPED",
    subjects: ["capped.>"],
    max_msgs_per_subject: 1,
    discard: "new" as never,
    discard_new_per_subject: true,
    max_msgs: 100,
  });
  const capped = await inspect(nc, { stream: "CAPPED", subject: "capped.{row.key}" });
  assert.match(
    theOne(capped, capped.find(({ field }) => field === "discard_new_per_subject")!.code).message,
    /capped\.\*/,
  );
});

Deno.test("inspect() warns of rows that no consumer of an interest stream matches: they are acknowledged, not stored", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.*.*"], retention: "interest" as never });
  const gaps = async (options: Options = OPTIONS) =>
    (await inspect(nc, options, { resource: "shop" })).filter(({ code }) => code === "stream.interest_gap");
  assert.deepEqual(await gaps(), [], "without a consumer it is an error of its own");
  await createConsumer(nc, "ORDERS", { name: "eu", durable_name: "eu", filter_subject: "orders.*.eu" });
  const [gap, ...others] = await gaps();
  assert.deepEqual([gap?.severity, gap?.field, others], ["warning", "retention", []]);
  assert.match(gap!.message, /no consumer's filter matches all subjects of orders\.shop\.\*: /);
  await using publisher = await Publisher.open(nc, OPTIONS);
  assert.equal((await publisher.publish({ resource: "shop", rows: ordersOf(3) })).rows, 3);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 1);
  assert.deepEqual(await gaps({ ...OPTIONS, subject: "orders.{resource}.eu" }), []);
  await createConsumer(nc, "ORDERS", { name: "all", durable_name: "all" });
  assert.deepEqual(await gaps(), []);
});
