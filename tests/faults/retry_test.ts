import assert from "node:assert/strict";
import { type Options, Publisher, type PublishErrorCode, type RowOutcome } from "../../mod.ts";
import { assertAgreement, assertFailure, assertWhole, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import {
  ack,
  type Answer,
  fakeConnection,
  NO_RESPONDERS,
  refusal,
  streamInfo,
  StreamModel,
  TOO_MANY_REQUESTS,
} from "../_support/fake/mod.ts";
import { BASE, reached } from "./_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

/**
 * A server's signal for a row: the row's outcome without `retry`, and whether `retry` resends it, with and without an
 * id.
 */
interface Signal {
  readonly name: string;
  readonly answer: Answer | undefined;
  readonly code: PublishErrorCode;
  readonly fate: Extract<RowOutcome, "rejected" | "unknown">;
  readonly again: "always" | "with an id" | "never";
}

const transient = (errCode: number, description: string): Signal => ({
  name: `${errCode} ${description}`,
  answer: refusal(503, errCode, description),
  code: "publish.rejected",
  fate: "rejected",
  again: "always",
});
const permanent = (errCode: number): Signal => ({
  name: `${errCode}`,
  answer: refusal(400, errCode, "no"),
  code: errCode === 10060 ? "publish.wrong_stream" : "publish.rejected",
  fate: "rejected",
  again: "never",
});

const SIGNALS: readonly Signal[] = [
  { name: "503", answer: NO_RESPONDERS, code: "publish.no_responders", fate: "rejected", again: "always" },
  { name: "429", answer: TOO_MANY_REQUESTS, code: "publish.overloaded", fate: "rejected", again: "always" },
  {
    name: "429, body alone",
    answer: refusal(429, 10167, "too many requests"),
    code: "publish.overloaded",
    fate: "rejected",
    again: "always",
  },
  {
    name: "429, status alone",
    answer: { status: 429 },
    code: "publish.overloaded",
    fate: "rejected",
    again: "always",
  },
  { name: "no answer", answer: undefined, code: "publish.timeout", fate: "unknown", again: "with an id" },
  {
    name: "a malformed answer",
    answer: { body: "+ACK" },
    code: "publish.bad_ack",
    fate: "unknown",
    again: "with an id",
  },
  {
    name: "10158 in process",
    answer: refusal(409, 10158, "duplicate message id is in process"),
    code: "publish.rejected",
    fate: "unknown",
    again: "with an id",
  },
  {
    name: "another stream's acknowledgment",
    answer: { body: { stream: "OTHER", seq: 3 } },
    code: "publish.wrong_stream",
    fate: "unknown",
    again: "never",
  },
  transient(10023, "insufficient resources"),
  transient(10077, "maximum messages exceeded"),
  transient(10002, "resource limits exceeded for account"),
  transient(10063, "expected stream sequence does not match"),
  transient(10008, "jetstream system temporarily unavailable"),
  transient(10009, "jetstream cluster not available"),
  ...[10060, 10109, 10054, 10097, 10166, 10165, 10111, 10169, 10174, 10175, 10177, 10178, 10179, 10199].map(permanent),
  ...[10200, 10201, 10205, 10206, 10207, 10209, 10071, 10164].map(permanent),
];

/** Answers row 5 with the signal `times` times; everything else is stored. */
function scene(signal: Signal, ids: boolean, options: Partial<Options>, times: number) {
  const stream = new StreamModel();
  let left = times;
  const fake = fakeConnection({
    answers: (published) => {
      const { n } = JSON.parse(new TextDecoder().decode(published.data)) as { n: number };
      if (n !== 5 || left === 0) return stream.store(published);
      left--;
      if (signal.fate === "unknown") stream.store(published);
      return signal.answer;
    },
  });
  const batch = { resource: "eu", rows: ids ? idBatch(12) : numberBatch(12) };
  return { stream, fake, batch, open: () => Publisher.open(fake.nc, { ...BASE, publishTimeout: 40, ...options }) };
}

for (const signal of SIGNALS) {
  for (const ids of [true, false]) {
    const rows = ids ? "rows with ids" : "rows without ids";
    const expected = { code: signal.code, row: 5, counts: { acked: 11, [signal.fate]: 1 } };
    Deno.test(
      `publish() without retry fails on ${signal.name} (${rows})`,
      onVirtualClock(async () => {
        const { stream, fake, batch, open } = scene(signal, ids, {}, 1);
        const publisher = await open();
        const error = assertFailure(await failureOf(publisher.publish(batch)), 12, expected);
        assertAgreement(error, 12, stream.rows);
        assert.equal(fake.published.length, 12, "nothing was sent twice");
        await publisher.close();
      }),
    );

    const again = signal.again === "always" || (signal.again === "with an id" && ids);
    Deno.test(
      `publish() with retry ${again ? "survives" : "fails on"} ${signal.name} (${rows})`,
      onVirtualClock(async () => {
        const { stream, fake, batch, open } = scene(signal, ids, { retry: { budget: "10s" } }, again ? 2 : 1);
        const publisher = await open();
        if (again) {
          const receipt = await publisher.publish(batch);
          assert.deepEqual([receipt.rows, receipt.duplicates], [12, signal.fate === "unknown" ? 1 : 0]);
          assert.equal(fake.published.length, 14);
          assertWhole(stream.rows, 12);
          assert.equal(receipt.sequences?.reduce((sum, [first, last]) => sum + last - first + 1, 0), 12);
        } else {
          const error = assertFailure(await failureOf(publisher.publish(batch)), 12, expected);
          assertAgreement(error, 12, stream.rows);
          assert.equal(fake.published.length, 12);
        }
        await publisher.close();
      }),
    );

    if (!again) continue;
    Deno.test(
      `publish() with retry gives up on ${signal.name} when the budget is spent (${rows})`,
      onVirtualClock(async () => {
        const { stream, batch, open } = scene(signal, ids, { retry: { budget: 120 } }, Infinity);
        const publisher = await open();
        const error = assertFailure(await failureOf(publisher.publish(batch)), 12, expected);
        assertAgreement(error, 12, stream.rows);
        assert.equal(publisher.stats().inFlight, 0);
        await publisher.close();
      }),
    );
  }
}

Deno.test(
  "publish() with retry sends nothing else while the stream has no leader",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    let refusals = 0;
    const fake = fakeConnection({
      answers: (published) => {
        if (published.index >= 30) return stream.store(published);
        refusals++;
        return NO_RESPONDERS;
      },
    });
    const publisher = await Publisher.open(fake.nc, { ...BASE, maxInFlight: 10, retry: { budget: "10s" } });
    const receipt = await publisher.publish({ resource: "eu", rows: idBatch(100) });
    assert.equal(receipt.rows, 100);
    assert.equal(refusals, 30);
    assert.equal(fake.published.length, 130, "each of the first ten rows went three times more, the others once");
    assertWhole(stream.rows, 100);
    await publisher.close();
  }),
);

Deno.test(
  "publish() continues after a pause whose own rows were removed",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      answers: ({ index }) => index < 3 ? NO_RESPONDERS : { body: { stream: "ORDERS", seq: index } },
    });
    const publisher = await Publisher.open(fake.nc, { ...BASE, retry: { budget: "10s" } });
    const abort = new AbortController();
    const first = failureOf(publisher.publish({ resource: "eu", rows: idBatch(3) }, { signal: abort.signal }));
    await reached(fake, 3);
    const second = publisher.publish({ resource: "eu", rows: idBatch(3, { first: 3 }) });
    abort.abort();
    assertFailure(await first, 3, { code: "publish.aborted", outcome: "partial", counts: { rejected: 3 } });
    assert.equal((await second).rows, 3);
    await publisher.close();
  }),
);

Deno.test(
  "publish() with retry keeps to the window, and is woken only by answers when it is full",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    let lost = 0;
    const fake = fakeConnection({
      answers: (published) => {
        if (lost >= 8 && published.index < 16) return undefined;
        if (published.index % 3 === 0 && lost < 8) {
          lost++;
          return undefined;
        }
        return stream.store(published);
      },
    });
    let most = 0;
    const publisher = await Publisher.open(fake.nc, {
      ...BASE,
      maxInFlight: 4,
      retry: { budget: "20s" },
      onProgress: ({ inFlight }) => most = Math.max(most, inFlight),
    });
    const receipt = await publisher.publish({ resource: "eu", rows: idBatch(60) });
    assert.equal(receipt.rows, 60);
    assertWhole(stream.rows, 60);
    assert.ok(most <= 4);
    await publisher.close();
  }),
);

Deno.test(
  "publish() sets no repeated timers while rows to be resent find the window full",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      manual: true,
      answers: ({ index }) => index < 4 ? refusal(409, 10158, "in process") : undefined,
    });
    const options: Options = { ...BASE, publishTimeout: "1m", maxInFlight: 4, retry: { budget: "10s" } };
    const publisher = await Publisher.open(fake.nc, options);
    const publishing = publisher.publish({ resource: "eu", rows: idBatch(8) });
    await reached(fake, 4);
    fake.deliver();
    await reached(fake, 8); // these have no answer, and the first four wait for room
    const { setTimeout: timeout } = globalThis;
    let timers = 0;
    globalThis.setTimeout = ((...args: Parameters<typeof timeout>) => {
      timers++;
      return timeout(...args);
    }) as typeof timeout;
    await new Promise((resolve) => timeout(resolve, 500));
    globalThis.setTimeout = timeout;
    assert.ok(timers < 10, `${timers} timers in half a second`);
    let seq = 0;
    const answer = (from: number, to: number): void => {
      for (const published of fake.published.slice(from, to)) fake.answer(published, ack("ORDERS", ++seq));
      fake.deliver();
    };
    answer(4, 8);
    await reached(fake, 12);
    answer(8, 12);
    assert.equal((await publishing).rows, 8);
    await publisher.close();
  }),
);

Deno.test(
  "publish() refuses a batch with ids whose retries would outlive the duplicate window",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      requests: () => streamInfo("ORDERS", { duplicate_window: 2_000_000_000 }),
    });
    const options: Options = { ...BASE, publishTimeout: 500, retry: { budget: 1501 } };
    const publisher = await Publisher.open(fake.nc, options);
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(1) })) as { code: string };
    assert.equal(error.code, "route.short_dedupe");
    assert.equal(fake.published.length, 0);
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(1) })).rows, 1);
    await publisher.close();
    const fits = await Publisher.open(fake.nc, { ...options, retry: { budget: 1500 } });
    assert.equal((await fits.publish({ resource: "eu", rows: idBatch(1) })).rows, 1);
    await fits.close();
  }),
);

Deno.test(
  "a failure under retry ends the rows that wait to be resent",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      answers: ({ index }) => index < 3 ? NO_RESPONDERS : index === 5 ? refusal(400, 10054, "no") : undefined,
    });
    const publisher = await Publisher.open(() => Promise.resolve(fake.nc), { ...BASE, retry: { budget: "1m" } });
    const error = await failureOf(publisher.publish({ resource: "eu", rows: numberBatch(8) }));
    assertFailure(error, 8, {
      code: "publish.rejected",
      row: 5,
      serverCode: 10054,
      outcome: "uncertain",
      counts: { rejected: 4, unknown: 4 },
    });
    assert.equal(fake.published.length, 8);
  }),
);

for (
  const [name, answer] of [["no answer", undefined], ["503", NO_RESPONDERS], [
    "10158",
    refusal(409, 10158, "in process"),
  ]] as const
) {
  Deno.test(
    `publish() with retry and maxInFlight 1 stores every row before later ones, through ${name}`,
    onVirtualClock(async () => {
      const stream = new StreamModel();
      const fake = fakeConnection({
        answers: (published) => published.index % 4 === 1 ? answer : stream.store(published),
      });
      const options: Options = { ...BASE, publishTimeout: 30, maxInFlight: 1, retry: { budget: "20s" } };
      const publisher = await Publisher.open(fake.nc, options);
      const calls = [0, 6].map((first) => publisher.publish({ resource: "eu", rows: idBatch(6, { first }) }));
      for (const call of calls) assert.equal((await call).rows, 6);
      assert.deepEqual(stream.rows, Array.from({ length: 12 }, (_, n) => n));
      await publisher.close();
    }),
  );
}
