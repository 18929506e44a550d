import assert from "node:assert/strict";
import { isJetrowError, type Options, Publisher, type PublishError, type RowOutcome } from "../../mod.ts";
import {
  type Answer,
  apiError,
  NO_RESPONDERS,
  refusal,
  streamInfo,
  TOO_MANY_REQUESTS,
} from "../_support/fake_answers.ts";
import type { FakeConnection } from "../_support/fake_connection.ts";
import { idBatch, numberBatch, sizedBatch } from "../_support/batches.ts";
import { atomicServer, batchRow, type BatchScript, committed } from "./_atomic_server.ts";

const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "atomic" };

async function open(fake: FakeConnection, options: Partial<Options> = {}): Promise<Publisher> {
  return await Publisher.open(fake.nc, { ...OPTIONS, ...options });
}

/** What a call ends with. */
async function failureOf(call: Promise<unknown>): Promise<PublishError> {
  const error = await call.then(() => undefined, (error: unknown) => error);
  assert.ok(isJetrowError(error) && error.name === "PublishError", `not a PublishError: ${error}`);
  return error;
}

function counts(given: Partial<Record<RowOutcome, number>>): Record<RowOutcome, number> {
  return { acked: 0, duplicate: 0, rejected: 0, unknown: 0, unsent: 0, ...given };
}

/** Lets microtasks and timers of no delay run. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("an atomic batch waits for its first row's answer, and asks for another one with its last row only", async () => {
  const fake = atomicServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const call = publisher.publish({ resource: "eu", rows: idBatch(4) });
  await turn();
  assert.equal(fake.published.length, 1, "the first row alone");
  assert.equal(publisher.stats().inFlight, 4, "all rows are outstanding");
  fake.deliver();
  await turn();
  fake.deliver();
  const receipt = await call;
  const rows = fake.published.map(batchRow);
  assert.deepEqual(rows.map(({ sequence }) => sequence), [1, 2, 3, 4]);
  assert.deepEqual(rows.map(({ commit }) => commit), [false, false, false, true]);
  assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
  assert.deepEqual(fake.published.map(({ reply }) => reply !== ""), [true, false, false, true]);
  const { sequences, firstSequence, lastSequence, duplicates } = receipt;
  assert.deepEqual({ sequences, firstSequence, lastSequence, duplicates }, {
    sequences: [[1, 4]],
    firstSequence: 1,
    lastSequence: 4,
    duplicates: 0,
  });
  const block = new TextDecoder().decode(fake.published[3]!.headers);
  assert.match(
    block,
    /^NATS\/1\.0\r\nContent-Type: .*\r\nFilament-Operation: .*\r\nNats-Expected-Stream: ORDERS\r\nNats-Msg-Id: [0-9a-f]{64}\r\nNats-Batch-Id: \S{22}\r\nNats-Batch-Sequence: 4\r\nNats-Batch-Commit: 1\r\n\r\n$/,
  );
  assert.equal(publisher.stats().inFlight, 0);
});

Deno.test("a batch of one row is one message; one of no rows is none", async () => {
  const fake = atomicServer();
  await using publisher = await open(fake);
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(0) })).rows, 0);
  assert.equal(fake.published.length, 0);
  assert.deepEqual((await publisher.publish({ resource: "eu", rows: numberBatch(1) })).sequences, [[1, 1]]);
  assert.deepEqual(fake.published.map((row) => ({ ...batchRow(row), id: "" })), [{
    id: "",
    sequence: 1,
    commit: true,
  }]);
});

Deno.test("both wires send the same messages", async () => {
  const [publishes, frames] = await Promise.all([false, true].map(async (frames) => {
    const fake = atomicServer(undefined, { frames });
    await using publisher = await open(fake);
    await publisher.publish({ resource: "eu", rows: idBatch(3) });
    return fake.published.map(({ subject, headers, data, reply }) => [
      subject,
      new TextDecoder().decode(headers).replace(/(Batch-Id: )\S+/, "$1"),
      new TextDecoder().decode(data),
      reply === "",
    ]);
  }));
  assert.deepEqual(publishes, frames);
});

Deno.test("what cannot be one batch is refused before anything is sent, and leaves the publisher as it was", async () => {
  const fake = atomicServer();
  const overhead =
    "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: insert\r\nNats-Expected-Stream: ORDERS\r\n"
      .length +
    "Nats-Batch-Id: 0123456789012345678901\r\nNats-Batch-Sequence: 1\r\n".length + 2;
  const commit = "Nats-Batch-Commit: 1\r\n".length;
  await using publisher = await open(fake, { maxInFlight: 2000 });
  await assert.rejects(publisher.publish({ resource: "eu", rows: numberBatch(1001) }), {
    name: "EncodeError",
    code: "encode.too_large",
    size: 1001,
    limit: 1000,
  });
  await using narrow = await open(fake, { maxInFlight: 10 });
  await assert.rejects(narrow.publish({ resource: "eu", rows: numberBatch(11) }), {
    code: "encode.too_large",
    limit: 10,
  });
  const together = 3 * (overhead + 100 + "orders.eu".length) + commit;
  await using tight = await open(fake, { maxInFlightBytes: together });
  await using tighter = await open(fake, { maxInFlightBytes: together - 1 });
  await assert.rejects(tighter.publish({ resource: "eu", rows: sizedBatch(3, 100) }), {
    code: "encode.too_large",
    size: together,
    limit: together - 1,
  });
  assert.equal(fake.published.length, 0);
  assert.equal((await tight.publish({ resource: "eu", rows: sizedBatch(3, 100) })).rows, 3);
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(1000) })).rows, 1000);
  assert.equal((await narrow.publish({ resource: "eu", rows: numberBatch(10) })).rows, 10);
});

Deno.test("batch headers count in a message's size, to the byte", async () => {
  const sizeOf = async (index: number): Promise<number> => {
    const fake = atomicServer();
    await using publisher = await open(fake);
    await publisher.publish({ resource: "eu", rows: sizedBatch(12, 300) });
    const { headers, data } = fake.published[index]!;
    return headers.length + data.length;
  };
  // The last row has the largest block: the commit, and two digits.
  const largest = await sizeOf(11);
  assert.equal(largest, await sizeOf(10) + "Nats-Batch-Commit: 1\r\n".length);
  const publish = async (limit: number): Promise<number> => {
    const fake = atomicServer(undefined, { info: { max_payload: limit } });
    await using publisher = await open(fake);
    return (await publisher.publish({ resource: "eu", rows: sizedBatch(12, 300) })).rows;
  };
  assert.equal(await publish(largest), 12);
  await assert.rejects(publish(largest - 1), { code: "encode.too_large", row: 11, size: largest, limit: largest - 1 });
});

Deno.test("two rows of one id are refused, whatever their bodies", async () => {
  const fake = atomicServer();
  await using publisher = await open(fake, { eventIdColumn: "text" });
  const rows = idBatch(3, { payload: 5 });
  await assert.rejects(publisher.publish({ resource: "eu", rows }), { code: "encode.duplicate_id", row: 1 });
  assert.equal(fake.published.length, 0);
});

const REFUSALS: readonly (readonly [Answer, number, string])[] = [
  ...[10002, 10023, 10054, 10071, 10077, 10097, 10109, 10111, 10120, 10164, 10165, 10166].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  ...[10174, 10175, 10176, 10177, 10179, 10185, 10199, 10200].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  [refusal(400, 10060, "expected stream does not match"), 10060, "publish.wrong_stream"],
  [refusal(429, 10210, "too many"), 10210, "publish.overloaded"],
  [TOO_MANY_REQUESTS, 10167, "publish.overloaded"],
  [NO_RESPONDERS, 503, "publish.no_responders"],
];

for (const [answer, serverCode, code] of REFUSALS) {
  Deno.test(`a commit refused with ${serverCode} leaves every row rejected: ${code}`, async () => {
    await using publisher = await open(atomicServer((row) => row.commit ? answer : undefined));
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
    assert.deepEqual([error.code, error.serverCode, error.outcome], [code, serverCode, "partial"]);
    assert.deepEqual(error.rowOutcomes.counts, counts({ rejected: 5 }));
  });

  Deno.test(`a first row refused with ${serverCode} ends a batch that is never committed: ${code}`, async () => {
    const fake = atomicServer((row) => row.sequence === 1 ? answer : undefined);
    await using publisher = await open(fake);
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
    assert.deepEqual([error.code, error.serverCode, error.outcome], [code, serverCode, "none"]);
    assert.deepEqual(error.rowOutcomes.counts, counts({ unsent: 5 }));
    assert.equal(fake.published.length, 1);
  });
}

Deno.test("an id in process leaves every row unknown", async () => {
  await using publisher = await open(atomicServer((row) => row.commit ? refusal(409, 10158, "in process") : undefined));
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10158, "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 5 }));
});

Deno.test("a server that stores the first row for itself gets no other one", async () => {
  const fake = atomicServer((row) => ({ body: { stream: "ORDERS", seq: row.sequence } }));
  await using publisher = await open(fake);
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.outcome], ["publish.bad_ack", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 1, unsent: 4 }));
  assert.equal(fake.published.length, 1);
});

const BAD_COMMITS: readonly (readonly [string, BatchScript, string])[] = [
  ["of another batch", (row) => committed({ ...row, id: "other" }, 5), "publish.bad_ack"],
  ["of no batch", () => ({ body: { stream: "ORDERS", seq: 5 } }), "publish.bad_ack"],
  ["of fewer rows", (row) => committed(row, 5, { count: 4 }), "publish.bad_ack"],
  ["of more rows, a marker counted", (row) => committed(row, 6, { count: 6 }), "publish.bad_ack"],
  ["with a sequence that so many rows cannot have", (row) => committed(row, 4), "publish.bad_ack"],
  ["that says duplicate", (row) => committed(row, 5, { duplicate: true }), "publish.bad_ack"],
  ["of another stream", (row) => committed(row, 5, { stream: "OTHER" }), "publish.wrong_stream"],
  ["that is empty", () => ({}), "publish.bad_ack"],
  ["that is no JSON", () => ({ body: "+OK" }), "publish.bad_ack"],
];

for (const [what, script, code] of BAD_COMMITS) {
  Deno.test(`a commit's answer ${what} leaves every row unknown`, async () => {
    await using publisher = await open(
      atomicServer((row, published) => row.commit ? script(row, published) : undefined),
    );
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
    assert.deepEqual([error.code, error.outcome], [code, "uncertain"]);
    assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 5 }));
  });
}

Deno.test("a lost commit answer is a timeout, every row unknown; a first row without one leaves them unsent", async () => {
  await using one = await open(atomicServer((row) => row.commit ? null : undefined), { publishTimeout: 20 });
  const error = await failureOf(one.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.outcome], ["publish.timeout", "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 5 }));
  await using two = await open(atomicServer(() => null), { publishTimeout: 20 });
  const other = await failureOf(two.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([other.code, other.outcome], ["publish.timeout", "none"]);
  assert.deepEqual(other.rowOutcomes.counts, counts({ unsent: 5 }));
});

Deno.test("a lost connection leaves a committed batch unknown, and one without a commit unsent", async () => {
  for (const [waitsFor, known] of [[true, { unknown: 5 }], [false, { unsent: 5 }]] as const) {
    const fake = atomicServer((row) => row.commit === waitsFor ? null : undefined);
    await using publisher = await open(fake);
    const failure = failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
    await turn();
    fake.lose();
    const error = await failure;
    assert.equal(error.code, "publish.disconnected");
    assert.deepEqual(error.rowOutcomes.counts, counts(known));
  }
});

Deno.test("a batch aborted before its commit leaves nothing, and the publisher as it was", async () => {
  const silent = { first: true };
  const fake = atomicServer((row) => silent.first && row.sequence === 1 ? null : undefined);
  await using publisher = await open(fake);
  const abort = new AbortController();
  const failure = failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }, { signal: abort.signal }));
  await turn();
  abort.abort(new Error("enough"));
  const error = await failure;
  assert.deepEqual([error.code, error.outcome], ["publish.aborted", "none"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unsent: 5 }));
  silent.first = false;
  fake.answer(fake.published[0]!, {}); // the late answer commits nothing
  assert.equal((await publisher.publish({ resource: "eu", rows: idBatch(3) })).rows, 3);
  assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 1, 2, 3]);
});

Deno.test("a call begins when the last row of the one before is sent, and the window has room for all of it", async () => {
  const fake = atomicServer(undefined, { manual: true });
  await using publisher = await open(fake, { maxInFlight: 10 });
  const calls = [4, 5, 3].map((rows) => publisher.publish({ resource: "eu", rows: numberBatch(rows) }));
  await turn();
  assert.equal(fake.published.length, 1, "the first row of the first call");
  fake.deliver();
  await turn();
  assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 2, 3, 4, 1, 2, 3, 4, 5]);
  assert.equal(publisher.stats().inFlight, 9, "3 more would be 12");
  fake.deliver(1);
  await turn();
  assert.equal(fake.published.length, 12);
  fake.deliver();
  const receipts = await Promise.all(calls);
  assert.deepEqual(receipts.map(({ sequences }) => sequences), [[[1, 4]], [[5, 9]], [[10, 12]]]);
  assert.equal(new Set(fake.published.map((row) => batchRow(row).id)).size, 3);
});

Deno.test("a call's failure ends the batches behind it by what is known of them", async () => {
  const fake = atomicServer((row) =>
    row.commit ? (row.sequence === 2 ? refusal(400, 10077, "full") : null) : undefined
  );
  await using publisher = await open(fake, { publishTimeout: 50, maxInFlight: 5 });
  const calls = [numberBatch(1), numberBatch(2), numberBatch(3)].map((rows) =>
    failureOf(publisher.publish({ resource: "eu", rows }))
  );
  const errors = await Promise.all(calls);
  assert.deepEqual(errors.map(({ code }) => code), Array(3).fill("publish.rejected"));
  assert.deepEqual(errors.map(({ rowOutcomes }) => rowOutcomes.counts), [
    counts({ unknown: 1 }),
    counts({ rejected: 2 }),
    counts({ unsent: 3 }),
  ]);
});

Deno.test("with retry, a batch that is not stored goes again whole, under a new id", async () => {
  let refused = 0;
  const fake = atomicServer((row) => row.commit && refused++ < 2 ? refusal(400, 10176, "incomplete") : undefined);
  await using publisher = await open(fake, { retry: { budget: 5000 } });
  const receipt = await publisher.publish({ resource: "eu", rows: numberBatch(3) });
  assert.deepEqual(receipt.sequences, [[1, 3]]);
  assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
  assert.equal(new Set(fake.published.map((row) => batchRow(row).id)).size, 3);
});

Deno.test("with retry, a batch of unknown fate goes again only where every row has an id", async () => {
  for (const [rows, again] of [[idBatch(3), true], [numberBatch(3), false]] as const) {
    let lost = 0;
    const fake = atomicServer((row) => row.commit && lost++ === 0 ? null : undefined);
    await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 20 });
    const call = publisher.publish({ resource: "eu", rows });
    if (again) assert.equal((await call).rows, 3);
    else assert.deepEqual((await failureOf(call)).rowOutcomes.counts, counts({ unknown: 3 }));
  }
});

Deno.test("with retry, a batch goes again before the next call's: stored order is the order of calls", async () => {
  let refused = 0;
  const fake = atomicServer((row) => row.commit && refused++ < 2 ? NO_RESPONDERS : undefined);
  await using publisher = await open(fake, { retry: { budget: 5000 } });
  const calls = [2, 3, 4].map((rows) => publisher.publish({ resource: "eu", rows: numberBatch(rows) }));
  const receipts = await Promise.all(calls);
  assert.deepEqual(receipts.map(({ sequences }) => sequences), [[[1, 2]], [[3, 5]], [[6, 9]]]);
});

Deno.test("retry ends with its budget, the batch as its last submission left it", async () => {
  await using publisher = await open(atomicServer((row) => row.commit ? NO_RESPONDERS : undefined), {
    retry: { budget: 100 },
  });
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(3) }));
  assert.deepEqual([error.code, error.rowOutcomes.counts], ["publish.no_responders", counts({ rejected: 3 })]);
});

/** A server that knows all ids of the batch, and whose messages say which. */
function replayed(stored: (row: number) => number, fails?: number): FakeConnection {
  const ids: string[] = [];
  const type = "stream_msg_get_response";
  return atomicServer(({ commit, sequence }, published) => {
    ids[sequence - 1] = /Nats-Msg-Id: (\S+)/.exec(new TextDecoder().decode(published.headers))![1]!;
    return commit ? refusal(400, 10201, "batch contains duplicate message id") : undefined;
  }, {
    requests: ({ subject, body }) => {
      if (!subject.startsWith("$JS.API.STREAM.MSG.GET")) {
        const state = { last_seq: 2000, messages: 2000, consumer_count: 0 };
        return streamInfo("ORDERS", { allow_atomic: true }, { state });
      }
      if (fails !== undefined) return apiError(type, 500, fails, "no");
      const { seq = 1 } = JSON.parse(body) as { seq?: number };
      const at = ids.map((id, row) => ({ id, seq: stored(row) })).filter((message) => message.seq >= seq)
        .sort((a, b) => a.seq - b.seq)[0];
      if (at === undefined) return apiError(type, 404, 10037, "no message found");
      const hdrs = btoa(`NATS/1.0\r\nNats-Expected-Stream: ORDERS\r\nNats-Msg-Id: ${at.id}\r\n\r\n`);
      return { type: `io.nats.jetstream.api.v1.${type}`, message: { subject: "orders.eu", seq: at.seq, hdrs } };
    },
  });
}

Deno.test("a batch whose ids are all in the stream is done, every row a duplicate", async () => {
  await using publisher = await open(replayed((row) => 1001 + row));
  const receipt = await publisher.publish({ resource: "eu", rows: idBatch(700) });
  assert.deepEqual([receipt.rows, receipt.duplicates, receipt.sequences], [700, 700, [[1001, 1700]]]);
  assert.deepEqual([publisher.stats().acked, publisher.stats().duplicates], [0, 700]);
});

Deno.test("a batch whose ids are partly in the stream is refused, and says which rows are there", async () => {
  await using publisher = await open(replayed((row) => row % 2 === 0 ? 1001 + row : 0));
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10201, "partial"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ duplicate: 3, rejected: 3 }));
  assert.deepEqual(error.rowOutcomes.unsettled(), [1, 3, 5]);
});

Deno.test("a batch whose rows cannot be looked for is unknown", async () => {
  await using publisher = await open(replayed((row) => 1001 + row, 10013));
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(6) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10201, "uncertain"]);
  assert.deepEqual(error.rowOutcomes.counts, counts({ unknown: 6 }));
});

Deno.test("repeated, foreign and late answers settle nothing", async () => {
  const fake = atomicServer(undefined, { manual: true });
  await using publisher = await open(fake);
  const first = publisher.publish({ resource: "eu", rows: numberBatch(2) });
  await turn();
  const [staged] = fake.published;
  const inbox = staged!.reply.slice(0, staged!.reply.lastIndexOf("."));
  for (const token of ["0", "2", "999", "x", "1.2", "-1"]) {
    fake.answer(staged!, {
      body: { stream: "ORDERS", seq: 2, batch: batchRow(staged!).id, count: 2 },
      subject: `${inbox}.${token}`,
    });
  }
  assert.equal(publisher.stats().acked, 0);
  fake.deliver();
  fake.answer(staged!, { times: 3 });
  await turn();
  fake.deliver();
  await first;
  assert.equal(publisher.stats().acked, 2);
});
