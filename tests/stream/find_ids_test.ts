import assert from "node:assert/strict";
import fc from "fast-check";
import type { NatsConnection } from "@nats-io/nats-core";
import { IdFinder, type IdSearch } from "../../src/stream/find_ids.ts";
import { apiError, type Document, fakeConnection, streamInfo } from "../_support/fake/mod.ts";

const TYPE = "stream_msg_get_response";
const NOW = Date.parse("2026-01-02T03:04:06Z");

/** A message of the stream; they are stored one per second, the last one now. */
interface Message {
  readonly subject: string;
  readonly id: string | undefined;
}

/** A stream of these messages; `undefined` stands for a deleted one. */
function streamOf(
  messages: readonly (Message | undefined)[],
  config: Document = {},
  { info = {}, onRead }: { info?: Document; onRead?: (query: Document) => unknown } = {},
) {
  const find = (from: number, subject: string): Document => {
    for (let seq = Math.max(1, from); seq <= messages.length; seq++) {
      const message = messages[seq - 1];
      if (message === undefined || (subject !== ">" && message.subject !== subject)) continue;
      const hdrs = message.id === undefined
        ? {}
        : { hdrs: btoa(`NATS/1.0\r\nA: b\r\nNats-Msg-Id: ${message.id}\r\n\r\n`) };
      return { type: `io.nats.jetstream.api.v1.${TYPE}`, message: { subject: message.subject, seq, ...hdrs } };
    }
    return apiError(TYPE, 404, 10037, "no message found");
  };
  return fakeConnection({
    requests: ({ subject, body }) => {
      if (subject === "$JS.API.STREAM.INFO.ORDERS") {
        return streamInfo("ORDERS", config, { state: { last_seq: messages.length, consumer_count: 0 }, ...info });
      }
      const failure = onRead?.(JSON.parse(body));
      if (failure !== undefined) return failure;
      const { seq, start_time, next_by_subj } = JSON.parse(body) as {
        seq?: number;
        start_time?: string;
        next_by_subj: string;
      };
      const age = start_time === undefined ? undefined : (NOW - Date.parse(start_time)) / 1000;
      return find(seq ?? messages.length - Math.floor(age!), next_by_subj);
    },
  });
}

const findIds = (nc: NatsConnection, search: IdSearch, options = {}) => new IdFinder(nc, options).find(search);

const search = { stream: "ORDERS", subject: "orders.eu", since: { window: 3_600_000 } };

Deno.test("IdFinder finds each id where a scan of every message finds it", async () => {
  const message = fc.option(
    fc.record({
      subject: fc.constantFrom("orders.eu", "orders.us"),
      id: fc.option(fc.constantFrom(..."abcdefgh"), { nil: undefined }),
    }),
    { nil: undefined },
  );
  const stream = fc.array(message, { maxLength: 60 }).chain((few) => fc.tuple(fc.constant(few), fc.nat(2000)));
  await fc.assert(
    fc.asyncProperty(stream, fc.nat(80), async ([few, gap], window) => {
      // Some hundred deleted messages in the middle, so that several readers work at a time.
      const messages = [...few.slice(0, 30), ...Array<undefined>(gap).fill(undefined), ...few.slice(30)];
      const ids = [..."abcdefgh"];
      const found = await findIds(streamOf(messages).nc, { ...search, ids, since: { window: window * 1000 } }, {});
      ids.forEach((id, index) => {
        const places = messages.flatMap((message, i) =>
          message?.subject === "orders.eu" && message.id === id && i + 1 >= messages.length - window ? [i + 1] : []
        );
        if (places.length === 0) assert.equal(found[index], 0, id);
        else assert.ok(places.includes(found[index]!), `${id} at ${found[index]}, not ${places}`);
      });
    }),
    { numRuns: 40 },
  );
});

Deno.test("IdFinder reads all subjects of a stream that transforms subjects", async () => {
  const messages = [{ subject: "kept.eu", id: "a" }, { subject: "kept.us", id: "b" }];
  const { nc } = streamOf(messages, { subject_transform: { src: "orders.*", dest: "kept.{{wildcard(1)}}" } });
  assert.deepEqual([...await findIds(nc, { ...search, ids: ["b", "a", "c"] }, {})], [2, 1, 0]);
});

Deno.test("IdFinder throws if a read is refused", async () => {
  const refusing = fakeConnection({
    requests: ({ subject }) =>
      subject.includes("MSG.GET") ? apiError(TYPE, 400, 10003, "bad request") : streamInfo("ORDERS"),
  });
  await assert.rejects(findIds(refusing.nc, { ...search, ids: ["x"] }, {}), { name: "ConnectionError" });
});

Deno.test("IdFinder reads a stored load once, however many batches search it", async () => {
  const rows = 6_000;
  const messages = Array.from({ length: rows }, (_, i) => ({ subject: "orders.eu", id: `id ${i}` }));
  const { nc, asked } = streamOf(messages);
  const finder = new IdFinder(nc, {});
  for (let from = 0; from < rows; from += 200) {
    const ids = Array.from({ length: 200 }, (_, i) => `id ${from + i}`);
    const found = await finder.find({ ...search, since: { window: 10 * 3_600_000 }, ids });
    assert.deepEqual([found[0], found[199]], [from + 1, from + 200]);
  }
  assert.ok(asked.length < 1.5 * rows, `${asked.length} requests for ${rows} rows`);
});

Deno.test("IdFinder reads few messages to find the most recent batch", async () => {
  const messages = Array.from({ length: 40_000 }, (_, i) => ({ subject: "orders.eu", id: `id ${i}` }));
  const { nc, asked } = streamOf(messages);
  const ids = Array.from({ length: 10 }, (_, i) => `id ${39_990 + i}`);
  const found = await new IdFinder(nc, {}).find({ ...search, since: { window: 20 * 3_600_000 }, ids });
  assert.deepEqual([found[0], found[9]], [39_991, 40_000]);
  assert.ok(asked.length < 10_000, `${asked.length} requests`);
});

Deno.test("IdFinder answers concurrent searches, and continues after one that was aborted", async () => {
  const messages = Array.from({ length: 300 }, (_, i) => ({ subject: "orders.eu", id: `id ${i}` }));
  const finder = new IdFinder(streamOf(messages).nc, {});
  const aborted = finder.find({ ...search, ids: ["id 1"] }, AbortSignal.abort(new Error("enough")));
  const found = await Promise.all(["id 0", "id 299", "id 300", ""].map((id) => finder.find({ ...search, ids: [id] })));
  assert.deepEqual(found.map(([sequence]) => sequence), [1, 300, 0, 0]);
  await assert.rejects(aborted, /enough/);
});

const messagesOf = (ids: readonly string[]): Message[] => ids.map((id) => ({ subject: "orders.eu", id }));
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `id ${i}`);

Deno.test("IdFinder finds a message before the start of an earlier search", async () => {
  const finder = new IdFinder(streamOf(messagesOf(numbered(40))).nc, {});
  assert.deepEqual([...await finder.find({ ...search, since: { sequence: 30 }, ids: ["id 35", "no"] })], [36, 0]);
  assert.deepEqual([...await finder.find({ ...search, since: { sequence: 10 }, ids: ["id 20", "id 35"] })], [21, 36]);
});

Deno.test("IdFinder finds a message between the ranges of two earlier searches", async () => {
  const finder = new IdFinder(streamOf(messagesOf(numbered(30_000))).nc, {});
  for (const [after, row] of [[0, 5], [20_000, 20_001], [10_000, 15_000], [0, 9000]] as const) {
    const found = await finder.find({ ...search, since: { sequence: after }, ids: [`id ${row}`] });
    assert.deepEqual([...found], [row + 1], `after ${after}`);
  }
});

Deno.test("IdFinder returns no message at or before the given sequence", async () => {
  const finder = new IdFinder(streamOf(messagesOf(["a", "b", "c"])).nc, {});
  assert.deepEqual([...await finder.find({ ...search, since: { sequence: 0 }, ids: ["a", "no"] })], [1, 0]);
  assert.deepEqual([...await finder.find({ ...search, since: { sequence: 1 }, ids: ["a", "c"] })], [0, 3]);
});

Deno.test("IdFinder finds an id however many others follow, even if it forgets ids meanwhile", async () => {
  const rows = 20_000;
  const finder = new IdFinder(streamOf(messagesOf(numbered(rows))).nc, {}, 100);
  const since = { sequence: 0 };
  // The search for a missing id reads to the end of the stream.
  assert.deepEqual([...await finder.find({ ...search, since, ids: ["id 3", "no"] })], [4, 0]);
  assert.deepEqual([...await finder.find({ ...search, since, ids: ["id 7", "id 19999", "no"] })], [8, rows, 0]);
});

Deno.test("IdFinder reads a load once even if it has more rows than IdFinder remembers ids", async () => {
  const rows = 40_000;
  const { nc, asked } = streamOf(messagesOf(numbered(rows)));
  const finder = new IdFinder(nc, {}, 9000);
  for (let from = 0; from < rows; from += 1000) {
    const ids = numbered(rows).slice(from, from + 1000);
    const found = await finder.find({ ...search, since: { window: 20 * 3_600_000 }, ids });
    assert.deepEqual([found[0], found[999]], [from + 1, from + 1000]);
  }
  assert.ok(asked.length < 1.5 * rows, `${asked.length} requests for ${rows} rows`);
});

Deno.test("IdFinder forgets the ids of a stream that was deleted and recreated", async () => {
  const messages: Message[] = messagesOf(["a", "b", "c"]);
  const info: Document = {};
  const { nc } = streamOf(messages, {}, { info });
  const finder = new IdFinder(nc, {});
  assert.deepEqual([...await finder.find({ ...search, ids: ["a", "b", "no"] })], [1, 2, 0]);
  messages.splice(0, 3, ...messagesOf(["b"]));
  Object.assign(info, { created: "2026-01-02T03:04:06Z" });
  assert.deepEqual([...await finder.find({ ...search, ids: ["a", "b"] })], [0, 1]);
});

Deno.test("IdFinder counts the window from the time of the request, however long other searches take", async () => {
  const { now } = performance;
  let passed = 0;
  performance.now = () => now.call(performance) + passed;
  try {
    const starts: number[] = [];
    const { nc } = streamOf(messagesOf(numbered(20)), {}, {
      onRead: ({ start_time }) => {
        if (start_time === undefined) return;
        starts.push(NOW - Date.parse(String(start_time)));
        passed += 60_000;
      },
    });
    const finder = new IdFinder(nc, {});
    await Promise.all(["no", "neither"].map((id) => finder.find({ ...search, since: { window: 10_000 }, ids: [id] })));
    assert.ok(starts[1]! - starts[0]! >= 60_000, `${starts} ms back`);
  } finally {
    performance.now = now;
  }
});

Deno.test("IdFinder sends few further requests after one has failed", async () => {
  let reads = 0;
  const onRead = (): unknown => ++reads === 40 ? apiError(TYPE, 400, 10003, "bad request") : undefined;
  const { nc } = streamOf(messagesOf(numbered(9000)), {}, { onRead });
  await assert.rejects(findIds(nc, { ...search, since: { sequence: 0 }, ids: ["no"] }), { name: "ConnectionError" });
  for (let i = 0; i < 1000; i++) await Promise.resolve();
  assert.ok(reads < 40 + 2 * 16, `${reads} requests`);
});

Deno.test("IdFinder remembers a bounded number of ids of all subjects together", async () => {
  const { nc, asked } = streamOf(messagesOf(numbered(60)), { subject_transform: { src: "orders.*", dest: ">" } });
  const finder = new IdFinder(nc, {}, 100);
  const find = async (subject: string): Promise<number> => {
    const before = asked.length;
    assert.deepEqual([...await finder.find({ ...search, subject, ids: ["id 1"] })], [2]);
    return asked.length - before;
  };
  const first = await find("orders.a");
  assert.ok(await find("orders.a") < first, "remembered");
  await find("orders.b");
  assert.equal(await find("orders.a"), first, "forgotten for another subject");
});

Deno.test("IdFinder reads nothing twice for a search that is requested during another one", async () => {
  const rows = 2000;
  let other: Promise<Float64Array> | undefined;
  const { nc, asked } = streamOf(messagesOf(numbered(rows)), {}, {
    onRead: () => void (other ??= finder.find({ ...search, since: { sequence: 0 }, ids: ["neither"] })),
  });
  const finder = new IdFinder(nc, {});
  assert.deepEqual([...await finder.find({ ...search, since: { sequence: 0 }, ids: ["no"] })], [0]);
  await other;
  assert.ok(asked.length < 1.5 * rows, `${asked.length} requests`);
});
