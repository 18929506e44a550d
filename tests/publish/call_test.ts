import assert from "node:assert/strict";
import fc from "fast-check";
import { openRun, Publisher } from "../../mod.ts";
import { SpareMemory } from "../../src/json/memory/spare.ts";
import { Call } from "../../src/publish/call.ts";
import { PublisherCore } from "../../src/publish/core.ts";
import { ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT } from "../../src/publish/outcomes.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { preparingCall } from "./_calls.ts";
import { onVirtualClock } from "../_support/clock.ts";

const loaded = (count: number, memory?: SpareMemory): Call => {
  const call = preparingCall();
  call.load({ count, release: () => {}, free: () => {} } as never, {} as never, memory);
  return call;
};

const notes = ({ ledger }: Call): number[] => [...ledger.codes, ...ledger.sequences, ...ledger.tries];

Deno.test(
  "a new call has nothing of what an earlier call left in the same memory",
  onVirtualClock(() => {
    const memory = new SpareMemory();
    const first = loaded(3, memory);
    const { buffer } = first.ledger.codes;
    first.submit(0, 3, 0);
    first.acknowledge(0, 7, false);
    first.acknowledge(1, 8, true);
    first.acknowledge(2, 9, false);
    assert.deepEqual(notes(first), [ACKED, DUPLICATE, ACKED, 7, 8, 9, 1, 1, 1]);
    first.free();
    const second = loaded(2, memory);
    assert.ok(second.ledger.codes.buffer === buffer, "the memory is used again");
    assert.deepEqual(notes(second), [UNSENT, UNSENT, 0, 0, 0, 0]);
  }),
);

Deno.test(
  "late answers for a call that has returned its memory change no other call",
  onVirtualClock(() => {
    const memory = new SpareMemory();
    const first = loaded(2, memory);
    first.free();
    first.free();
    const second = loaded(2, memory);
    assert.ok(loaded(2, memory).ledger.codes.buffer !== second.ledger.codes.buffer, "no memory is given out twice");
    first.submit(0, 1, 0);
    first.acknowledge(0, 5, false);
    first.acknowledgeRange(0, 2);
    first.reject(1, "unknown");
    first.withdraw(1);
    assert.deepEqual(notes(second), [UNSENT, UNSENT, 0, 0, 0, 0]);
    assert.equal(first.count, 2);
  }),
);

Deno.test("a call is preparing, queued, sending and settled in this order", async () => {
  const call = preparingCall({ count: 5 });
  assert.deepEqual([call.state.tag, call.isLoaded, call.count], ["preparing", false, 5]);
  assert.throws(() => call.rows, /not loaded/);
  let released = 0;
  call.load({ count: 2, release: () => released++ } as never, {} as never);
  await call.loaded;
  assert.deepEqual([call.state.tag, call.isLoaded, call.count], ["queued", true, 2]);
  call.submit(0, 1, 0);
  assert.deepEqual([call.state.tag, call.next, call.hasSubmitted], ["sending", 1, true]);
  call.submit(1, 2, 0);
  assert.equal(released, 0);
  call.finishSubmission();
  assert.deepEqual([released, call.isReleased], [1, true]);
  await call.released;
  call.acknowledgeRange(0, 2);
  assert.ok(call.ledger.allAcknowledged);
  call.settle();
  call.fail(new Error("late"));
  await call.done;
  assert.deepEqual([call.state.tag, call.isOver], ["settled", true]);
});

Deno.test("a call that keeps its rows releases them when it ends", async () => {
  let released = 0;
  const call = preparingCall({ keepsRows: true });
  call.load({ count: 1, release: () => released++ } as never, {} as never);
  call.submit(0, 1, 0);
  call.finishSubmission();
  assert.deepEqual([released, call.isReleased], [0, false]);
  call.fail(new Error("lost"));
  await call.released;
  assert.deepEqual([released, call.isReleased], [1, true]);
});

Deno.test("a row that never reached the connection is unsent, and is submitted next", () => {
  const call = loaded(2);
  call.submit(0, 1, 0);
  call.withdraw(0);
  assert.deepEqual([call.state.tag, call.next, call.ledger.codes[0]], ["queued", 0, UNSENT]);
  call.submit(0, 1, 0);
  call.submit(1, 2, 0);
  call.reject(0, "unknown");
  call.submit(0, 1, 0);
  call.withdraw(0);
  assert.deepEqual([call.state.tag, call.next, call.ledger.codes[0]], ["sending", 2, UNKNOWN], "sent before");
});

Deno.test("a row that some submission may have stored is not rejected, whatever its last submission was answered", () => {
  const earlier = {
    duplicateWindow: 1000,
    firstSent: (index: number) => index === 2 ? { wall: 0, steady: 0 } : undefined,
  };
  const call = preparingCall({ earlier });
  call.load({ count: 4, release: () => {} } as never, {} as never);
  call.submit(0, 4, 0);
  call.reject(1, "unknown");
  for (let row = 0; row < 4; row++) call.reject(row, "no");
  assert.deepEqual([...call.ledger.codes], [REJECTED, UNKNOWN, UNKNOWN, REJECTED]);
  call.noteAbsence(1);
  assert.equal(call.ledger.codes[1], REJECTED, "the stream was searched for it");
});

Deno.test("a call fails once, with its first error, in any state before", async () => {
  for (const step of ["preparing", "queued", "sending"]) {
    const call = preparingCall();
    if (step !== "preparing") call.load({ count: 1, release: () => {} } as never, {} as never);
    if (step === "sending") call.submit(0, 1, 0);
    assert.equal(call.state.tag, step);
    const error = new Error(step);
    call.fail(error);
    call.fail(new Error("late"));
    call.submit(0, 1, 0);
    call.settle();
    assert.deepEqual(call.state, { tag: "failed", error, failure: undefined });
    await assert.rejects(call.done, error);
    await call.released;
    if (step === "preparing") await assert.rejects(call.loaded, error);
    else await call.loaded;
  }
});

Deno.test("a call that has failed while its rows were encoded is not queued by them", async () => {
  const call = preparingCall({ count: 5 });
  const error = new Error("aborted");
  call.fail(error);
  call.load({ count: 2, release: () => {} } as never, {} as never);
  assert.deepEqual(call.state, { tag: "failed", error, failure: undefined });
  assert.deepEqual([call.isOver, call.isLoaded, call.count], [true, false, 5]);
  await assert.rejects(call.loaded, error);
});

Deno.test(
  "a call that is aborted before any microtask of its start stays failed",
  onVirtualClock(async () => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const core = await PublisherCore.open(fakeConnection().nc, { stream: "ORDERS", subject: "orders.{resource}" });
      const source = openBatch({ resource: "eu", rows: idBatch(3) }, core.settings);
      const abort = new AbortController();
      const call = core.start(source, { from: 0, count: 3 }, { signal: abort.signal, cut: false });
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      abort.abort();
      const { tag } = call.state;
      assert.ok(call.isOver, `${tag} after ${ticks} microtasks`);
      await core.close();
      assert.equal(call.state.tag, tag, `after ${ticks} microtasks`);
    }
  }),
);

Deno.test("a call's state and counts follow its rows, in any order of reports", () => {
  const COUNT = 2;
  const step = fc.record({
    what: fc.constantFrom("submit", "resend", "withdraw", "acked", "duplicate", "no", "unknown", "settle", "fail"),
    row: fc.nat(COUNT - 1),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
    const call = loaded(COUNT);
    const outcomes: number[] = new Array(COUNT).fill(UNSENT);
    const doubtful = new Set<number>();
    let end: string | undefined;
    for (const { what, row } of steps) {
      const { next } = call;
      const sent = row < next;
      const open = outcomes[row] === UNKNOWN || outcomes[row] === REJECTED;
      if (what === "submit" && next < COUNT) {
        call.submit(next, next + 1, 0);
        outcomes[next] = UNKNOWN;
      } else if (
        what === "withdraw" && next > 0 && call.ledger.tries[next - 1] === 1 && outcomes[next - 1] === UNKNOWN
      ) {
        call.withdraw(next - 1);
        outcomes[next - 1] = UNSENT;
      } else if (what === "resend" && sent && open) {
        call.submit(row, row + 1, 0);
        outcomes[row] = UNKNOWN;
      } else if ((what === "acked" || what === "duplicate") && sent && open) {
        call.acknowledge(row, 1 + row, what === "duplicate");
        outcomes[row] = what === "duplicate" ? DUPLICATE : ACKED;
      } else if ((what === "no" || what === "unknown") && sent) {
        call.reject(row, what);
        if (what === "unknown") doubtful.add(row);
        outcomes[row] = doubtful.has(row) ? UNKNOWN : REJECTED;
      } else if (what === "settle" && call.ledger.allAcknowledged) {
        call.settle();
        end ??= "settled";
      } else if (what === "fail") {
        call.fail(new Error("lost"));
        end ??= "failed";
      }
      const submitted = outcomes.some((code) => code !== UNSENT);
      assert.equal(call.state.tag, end ?? (submitted ? "sending" : "queued"));
      assert.deepEqual([...call.ledger.codes], outcomes);
      const acknowledged = outcomes.filter((code) => code === ACKED || code === DUPLICATE).length;
      assert.equal(call.ledger.allAcknowledged, acknowledged === COUNT);
      assert.equal(call.ledger.duplicates, outcomes.filter((code) => code === DUPLICATE).length);
    }
  }));
});

Deno.test("a call without rows is settled when it is submitted", async () => {
  const call = loaded(0);
  call.finishSubmission();
  await call.done;
  assert.deepEqual([call.state.tag, call.hasSubmitted], ["settled", false]);
});

Deno.test(
  "consecutive calls and pieces reuse the same memory",
  onVirtualClock(async () => {
    const load = Call.prototype.load;
    const buffers = [new Set<unknown>(), new Set<unknown>(), new Set<unknown>()] as const;
    Call.prototype.load = function (this: Call, ...given: Parameters<typeof load>) {
      load.apply(this, given);
      [this.ledger.codes, given[0].offsets, given[0].bytes].forEach(({ buffer }, kind) => buffers[kind]!.add(buffer));
    };
    try {
      const { nc } = fakeConnection({ frames: true });
      const options = { stream: "ORDERS", subject: "orders.all", ownsConnection: false };
      await using publisher = await Publisher.open(nc, options);
      for (let call = 0; call < 10; call++) await publisher.publish({ resource: "r", rows: idBatch(50) });
      assert.deepEqual(buffers.map(({ size }) => size), [1, 1, 1]);
      await using run = await openRun(nc, options);
      await run.applyAll([{ resource: "r", rows: idBatch(1000) }], { batchMaxRows: 50 });
      await run.commit();
      assert.ok(buffers.every(({ size }) => size < 10), `${buffers.map(({ size }) => size)} for twenty pieces`);
    } finally {
      Call.prototype.load = load;
    }
  }),
);
