import assert from "node:assert/strict";
import { isJetrowError, type Options, Publisher, type PublishError, type RowOutcome } from "../../mod.ts";
import { type Answer, NO_RESPONDERS, refusal, TOO_MANY_REQUESTS } from "../_support/fake_answers.ts";
import type { FakeConnection } from "../_support/fake_connection.ts";
import { idBatch, numberBatch, sizedBatch } from "../_support/batches.ts";
import { until } from "../_support/wait.ts";
import { endAck, fastMessage, fastServer, flowAck, UNKNOWN_BATCH } from "./_fast_server.ts";

const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "fast" };

async function open(fake: FakeConnection, options: Partial<Options> = {}): Promise<Publisher> {
  return await Publisher.open(fake.nc, { ...OPTIONS, ...options });
}

async function failureOf(call: Promise<unknown>): Promise<PublishError> {
  const error = await call.then(() => undefined, (error: unknown) => error);
  assert.ok(isJetrowError(error) && error.name === "PublishError", `not a PublishError: ${error}`);
  return error;
}

function counts(given: Partial<Record<RowOutcome, number>>): Record<RowOutcome, number> {
  return { acked: 0, duplicate: 0, rejected: 0, unknown: 0, unsent: 0, ...given };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

const operations = (fake: FakeConnection): string =>
  fake.published.map((published) => {
    const { operation, sequence } = fastMessage(published);
    return `${operation} ${sequence}`;
  }).join(", ");

Deno.test("a fast batch waits for its first row's answer, and its last row ends it", async () => {
  const fake = fastServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const call = publisher.publish({ resource: "eu", rows: idBatch(4) });
  await turn();
  assert.equal(operations(fake), "start 1");
  fake.deliver();
  await turn();
  assert.equal(operations(fake), "start 1, append 2, append 3, commit 4");
  fake.deliver();
  const receipt = await call;
  assert.deepEqual([receipt.rows, receipt.lastSequence], [4, 4]);
  for (const key of ["duplicates", "firstSequence", "sequences"]) assert.ok(!(key in receipt), key);
  const messages = fake.published.map(fastMessage);
  assert.deepEqual(new Set(messages.map(({ id, flow, gap }) => `${id} ${flow} ${gap}`)).size, 1);
  assert.deepEqual([messages[0]!.flow, messages[0]!.gap], [341, "fail"]);
  assert.deepEqual(fake.subscribed, [`${messages[0]!.inbox}.>`]);
  assert.equal(publisher.stats().inFlight, 0);
});

Deno.test("a batch of one row is one message; one of no rows is none", async () => {
  const fake = fastServer();
  await using publisher = await open(fake);
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(0) })).rows, 0);
  assert.equal(fake.published.length, 0);
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(1) })).lastSequence, 1);
  assert.equal(operations(fake), "commit 1");
});

Deno.test("both wires send the same messages", async () => {
  const [publishes, frames] = await Promise.all([false, true].map(async (frames) => {
    const fake = fastServer(undefined, { frames });
    await using publisher = await open(fake);
    await publisher.publish({ resource: "eu", rows: idBatch(30) });
    return fake.published.map((published) => [
      published.subject,
      new TextDecoder().decode(published.headers),
      new TextDecoder().decode(published.data),
      { ...fastMessage(published), inbox: "", id: "" },
    ]);
  }));
  assert.deepEqual(publishes, frames);
});

Deno.test("lastSequence is absent when nothing new was stored", async () => {
  const fake = fastServer((message) =>
    message.operation === "commit" ? endAck(message.id, message.sequence, 0) : undefined
  );
  await using publisher = await open(fake);
  const receipt = await publisher.publish({ resource: "eu", rows: idBatch(3) });
  assert.ok(!("lastSequence" in receipt));
  const one = fastServer(({ id }) => endAck(id, 1, 7, { duplicate: true }));
  await using other = await open(one);
  assert.ok(!("lastSequence" in await other.publish({ resource: "eu", rows: idBatch(1) })));
});

Deno.test("rows behind the last answer stay within maxInFlight, in one batch", async () => {
  for (const maxInFlight of [1, 2, 3, 7, 40, 100]) {
    let most = 0;
    let acked = 0;
    const fake = fastServer(({ sequence }, _, good) => {
      most = Math.max(most, sequence - acked);
      const answers = good();
      for (const { body } of answers) {
        acked = (body as { type?: string; seq: number }).type === "ack" ? (body as { seq: number }).seq : acked;
      }
      return answers;
    });
    await using publisher = await open(fake, { maxInFlight });
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(333) })).rows, 333);
    assert.ok(most <= maxInFlight, `${most} rows behind, maxInFlight ${maxInFlight}`);
    assert.equal(new Set(fake.published.map((row) => fastMessage(row).id)).size, 1);
  }
});

Deno.test("rows outstanding, by count and bytes, never pass the limits", async () => {
  const size = 300;
  const fake: FakeConnection = fastServer(undefined, { manual: true });
  await using publisher = await open(fake, { maxInFlightBytes: 20_000, maxInFlight: 30 });
  const call = publisher.publish({ resource: "eu", rows: sizedBatch(200, size) });
  let most = 0;
  await until("the batch", async () => {
    const { inFlight, inFlightBytes } = publisher.stats();
    most = Math.max(most, inFlight);
    assert.ok(inFlight <= 30 && inFlightBytes <= 20_000, `${inFlight} rows, ${inFlightBytes} bytes`);
    fake.deliver();
    await turn();
    return publisher.stats().acked === 200;
  });
  assert.equal((await call).rows, 200);
  assert.ok(most > 20, `${most} rows at a time`);
});

Deno.test("a batch whose rows grow too large for an answer to come is ended, and the next one begins", async () => {
  const fake = fastServer();
  await using publisher = await open(fake, { maxInFlightBytes: 60_000, maxInFlight: 1000 });
  const calls = [sizedBatch(50, 30), sizedBatch(20, 20_000)].map((rows) => publisher.publish({ resource: "eu", rows }));
  const receipts = await Promise.all(calls);
  assert.deepEqual(receipts.map(({ rows }) => rows), [50, 20]);
  assert.ok(new Set(fake.published.map((row) => fastMessage(row).id)).size > 1);
});

Deno.test("small calls share a batch; a large one has its own", async () => {
  const fake = fastServer();
  await using publisher = await open(fake, { maxInFlight: 100 });
  const calls = Array.from(
    { length: 20 },
    (_, i) => publisher.publish({ resource: `r${i % 2}`, rows: numberBatch(5, i) }),
  );
  await Promise.all(calls);
  const shared = new Set(fake.published.map((row) => fastMessage(row).id)).size;
  assert.ok(shared <= 2, `${shared} batches for 20 calls of 5 rows`);
  const [small, large] = await Promise.all([
    publisher.publish({ resource: "eu", rows: numberBatch(5) }),
    publisher.publish({ resource: "eu", rows: numberBatch(200) }),
  ]);
  assert.deepEqual([small!.rows, large!.rows], [5, 200]);
  assert.equal(large!.lastSequence, 20 * 5 + 205);
});

Deno.test("a call that waits for the next one's rows does not wait long", async () => {
  const fake = fastServer();
  await using publisher = await open(fake);
  const first = publisher.publish({ resource: "eu", rows: numberBatch(5) });
  const second = publisher.publish({ resource: "us", rows: numberBatch(5) });
  assert.equal((await first).rows + (await second).rows, 10);
});

Deno.test("neither ping nor end is sent before a batch's first answer", async () => {
  const fake = fastServer(() => []);
  await using publisher = await open(fake, { publishTimeout: 60 });
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.outcome], ["publish.timeout", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 1, unsent: 4 }));
  assert.equal(operations(fake), "start 1");
});

Deno.test("a server that stores the first row for itself gets no other one", async () => {
  const fake = fastServer(({ sequence }) => ({ body: { stream: "ORDERS", seq: sequence } }));
  await using publisher = await open(fake);
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.outcome], ["publish.bad_ack", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 1, unsent: 4 }));
  assert.equal(operations(fake), "start 1");
});

Deno.test("a batch without answers is asked how far it is", async () => {
  const fake = fastServer(({ operation }, _, good) => operation === "append" ? (good(), []) : undefined);
  await using publisher = await open(fake, { maxInFlight: 16, publishTimeout: 300 });
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(40) })).rows, 40);
  assert.match(operations(fake), /ping/);
});

Deno.test("a row that the server refuses ends the batch: the rows before are stored, those behind are not", async () => {
  let ended = false;
  const fake = fastServer(({ id, sequence, operation }) => {
    if (ended) return UNKNOWN_BATCH;
    if (sequence !== 3 || operation === "ping") return undefined;
    ended = true;
    const error = { code: 400, err_code: 10060, description: "expected stream does not match" };
    return [{ body: { type: "err", seq: 3, error } }, endAck(id, 2)];
  });
  await using publisher = await open(fake);
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
  assert.deepEqual([error.code, error.serverCode, error.row], ["publish.wrong_stream", 10060, 2]);
  assert.equal(error.outcome, "partial");
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 2, rejected: 4 }));
  assert.deepEqual(error.rowOutcomes.unsettled(), [2, 3, 4, 5]);
});

const FIRST_ROW: readonly (readonly [Answer, number, string])[] = [
  ...[10002, 10023, 10054, 10109, 10185, 10205, 10206, 10207, 10208].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  [refusal(429, 10211, "too many"), 10211, "publish.overloaded"],
  [TOO_MANY_REQUESTS, 10167, "publish.overloaded"],
  [NO_RESPONDERS, 503, "publish.no_responders"],
];

for (const [answer, serverCode, code] of FIRST_ROW) {
  Deno.test(`a first row refused with ${serverCode} is rejected, and no other one sent: ${code}`, async () => {
    for (const rows of [idBatch(5), idBatch(1)]) {
      const fake = fastServer(() => answer);
      await using publisher = await open(fake);
      const error = await failureOf(publisher.publish({ resource: "eu", rows }));
      assert.deepEqual([error.code, error.serverCode, error.row, error.outcome], [code, serverCode, 0, "partial"]);
      assert.deepEqual(error.rowOutcomes.counts, counts({ rejected: 1, unsent: rows.numRows - 1 }));
      assert.equal(fake.published.length, 1);
    }
  });
}

Deno.test("a first row refused after its first answer leaves nothing stored", async () => {
  const fake = fastServer(({ operation, flow }) =>
    operation === "start" ? [flowAck(0, flow), refusal(400, 10060, "expected stream does not match")] : UNKNOWN_BATCH
  );
  await using publisher = await open(fake);
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.row], ["publish.wrong_stream", 0]);
  const { counts: known } = error.rowOutcomes;
  assert.deepEqual([known.acked, known.unknown, known.rejected + known.unsent], [0, 0, 5]);
});

for (
  const [what, answer, code] of [["nobody listens", NO_RESPONDERS, 503], [
    "overloaded",
    TOO_MANY_REQUESTS,
    10167,
  ]] as const
) {
  Deno.test(`a lost row (${what}) is rejected, and the batch's end tells of the others`, async () => {
    const fake = fastServer(({ sequence, operation }) => sequence === 4 && operation === "append" ? answer : undefined);
    await using publisher = await open(fake);
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
    assert.deepEqual([error.serverCode, error.row, error.outcome], [code, 3, "partial"]);
    assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 3, rejected: 3 }));
  });
}

Deno.test("a last row that nobody listens to is rejected: the batch is asked for its end", async () => {
  const fake = fastServer(({ operation }) => operation === "commit" ? NO_RESPONDERS : undefined);
  await using publisher = await open(fake);
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
  assert.deepEqual([error.code, error.row, error.outcome], ["publish.no_responders", 5, "partial"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 5, rejected: 1 }));
  assert.match(operations(fake), /end 7$/);
});

Deno.test("a lost last answer leaves what is not acknowledged unknown", async () => {
  let over = false;
  const fake = fastServer(({ operation }) => {
    if (over) return UNKNOWN_BATCH;
    if (operation !== "commit") return undefined;
    over = true;
    return [];
  });
  await using publisher = await open(fake, { maxInFlight: 8, publishTimeout: 600 });
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(7) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10208, "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 6, unknown: 1 }));
});

Deno.test("a batch that falls silent is a timeout", async () => {
  const fake = fastServer(({ sequence }) => sequence > 4 ? [] : undefined);
  await using publisher = await open(fake, { maxInFlight: 8, publishTimeout: 90 });
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(7) }));
  assert.deepEqual([error.code, error.outcome], ["publish.timeout", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 4, unknown: 3 }));
});

const BAD: readonly (readonly [string, (id: string) => Answer])[] = [
  ["counts the end as a row", (id) => endAck(id, 7)],
  ["counts fewer rows than were acknowledged", (id) => endAck(id, 1)],
  ["is of another batch", () => endAck("other", 6)],
  ["is of another stream", (id) => endAck(id, 6, 6, { stream: "OTHER" })],
  ["has no count", (id) => endAck(id, 6, 6, { count: "6" })],
  ["is no JSON", () => ({ body: "+OK" })],
  ["is empty", () => ({})],
  ["acknowledges rows that were not sent", () => flowAck(9, 2)],
  ["has another type", () => ({ body: { type: "nack", seq: 6 } })],
  ["refuses a row without a code", () => ({ body: { type: "err", seq: 6 } })],
];

for (const [what, answer] of BAD) {
  Deno.test(`a last answer that ${what} leaves what is not acknowledged unknown`, async () => {
    const fake = fastServer(({ id, operation }) => operation === "commit" ? answer(id) : undefined);
    await using publisher = await open(fake, { maxInFlight: 8 });
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
    assert.ok(["publish.bad_ack", "publish.wrong_stream"].includes(error.code), error.code);
    assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 4, unknown: 2 }));
  });
}

Deno.test("a lost connection leaves what is not acknowledged unknown", async () => {
  const fake = fastServer(({ sequence }) => sequence > 4 ? [] : undefined);
  await using publisher = await open(fake, { maxInFlight: 8 });
  const failure = failureOf(publisher.publish({ resource: "eu", rows: idBatch(20) }));
  await turn();
  fake.lose();
  const error = await failure;
  assert.deepEqual([error.code, error.outcome], ["publish.disconnected", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 4, unknown: 8, unsent: 8 }));
});

Deno.test("an aborted call's rows are unknown, and the others of its batch go on", async () => {
  const fake = fastServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const abort = new AbortController();
  const kept = publisher.publish({ resource: "eu", rows: numberBatch(5) });
  const failure = failureOf(publisher.publish({ resource: "eu", rows: numberBatch(6) }, { signal: abort.signal }));
  await turn();
  fake.deliver();
  await turn();
  assert.equal(publisher.stats().inFlight, 11);
  abort.abort(new Error("enough"));
  const error = await failure;
  assert.deepEqual([error.code, error.rowOutcomes.counts], ["publish.aborted", counts({ unknown: 6 })]);
  assert.equal(publisher.stats().inFlight, 5);
  fake.deliver();
  await kept;
  const again = publisher.publish({ resource: "eu", rows: numberBatch(1) });
  await turn();
  fake.deliver();
  assert.equal((await again).rows, 1);
});

Deno.test("an aborted call whose batch is opening leaves a batch that is ended", async () => {
  const fake = fastServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const abort = new AbortController();
  const failure = failureOf(publisher.publish({ resource: "eu", rows: numberBatch(6) }, { signal: abort.signal }));
  await turn();
  abort.abort();
  assert.deepEqual((await failure).rowOutcomes.counts, counts({ unknown: 1, unsent: 5 }));
  const again = publisher.publish({ resource: "eu", rows: numberBatch(1) });
  await turn();
  fake.deliver();
  await turn();
  fake.deliver();
  assert.equal((await again).rows, 1);
  assert.equal(operations(fake), "start 1, commit 1, end 2");
});

Deno.test("with retry, the rows that are not stored go again in a new batch, in order", async () => {
  let lost = 0;
  const fake = fastServer(({ sequence, operation }) =>
    sequence === 4 && operation === "append" && lost++ < 2 ? NO_RESPONDERS : undefined
  );
  await using publisher = await open(fake, { retry: { budget: 5000 } });
  const receipt = await publisher.publish({ resource: "eu", rows: numberBatch(12) });
  assert.equal(receipt.rows, 12);
  assert.equal(receipt.lastSequence, 12);
  assert.equal(publisher.stats().inFlight, 0);
});

Deno.test("with retry, rows of unknown fate go again under the same ids", async () => {
  let silent = true;
  const ids = new Map<string, number>();
  const fake = fastServer(({ sequence, operation }, { headers }) => {
    const id = /Nats-Msg-Id: (\S+)/.exec(new TextDecoder().decode(headers))?.[1];
    if (id !== undefined) ids.set(id, (ids.get(id) ?? 0) + 1);
    if (sequence === 6 && operation === "append") {
      setTimeout(() => silent = false, 50);
    }
    return silent && sequence > 5 ? [] : undefined;
  });
  await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 60, maxInFlight: 8 });
  assert.equal((await publisher.publish({ resource: "eu", rows: idBatch(12) })).rows, 12);
  assert.equal(ids.size, 12);
  assert.ok([...ids.values()].some((times) => times > 1));
});

Deno.test("with retry, rows of unknown fate without ids do not go again", async () => {
  const fake = fastServer(({ sequence }) => sequence > 5 ? [] : undefined);
  await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 60, maxInFlight: 8 });
  const error = await failureOf(publisher.publish({ resource: "eu", rows: numberBatch(12) }));
  assert.equal(error.code, "publish.timeout");
  assert.deepEqual(error.rowOutcomes.counts, counts({ acked: 4, unknown: 8 }));
});

Deno.test("answers to other batches, repeated and late ones settle nothing", async () => {
  const fake = fastServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const call = publisher.publish({ resource: "eu", rows: numberBatch(3) });
  await turn();
  const [start] = fake.published;
  const { inbox, id } = fastMessage(start!);
  for (
    const subject of [
      `${inbox}.1`,
      `${inbox}.other.256.fail.3.2.$FI`,
      `${inbox}.${id}.256.ok.3.2.$FI`,
      `${inbox}.${id}.x`,
    ]
  ) {
    fake.answer(start!, { ...endAck(id, 1), subject });
  }
  fake.deliver();
  await turn();
  assert.equal(publisher.stats().acked, 0);
  fake.answer(start!, flowAck(0, 256));
  fake.deliver();
  await call;
  fake.answer(start!, endAck(id, 3));
  fake.deliver();
  assert.equal(publisher.stats().acked, 3);
});
