import assert from "node:assert/strict";
import { EncodeError, Publisher } from "../../mod.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { PublisherCore } from "../../src/publish/core.ts";
import { Turns } from "../../src/publish/encode_turns.ts";
import type { Steps } from "../../src/util/steps.ts";
import { batchOf, idBatch, numberBatch, textColumn } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { until } from "../_support/wait.ts";
import { onVirtualClock } from "../_support/clock.ts";

const always = () => true;

/** Work of `steps` steps that logs each step. */
function* noted(name: string, steps: number, log: string[]): Steps<string> {
  for (let step = 1; step <= steps; step++) {
    log.push(`${name}${step}`);
    if (step < steps) yield;
  }
  return name;
}

Deno.test(
  "Turns does one piece of work after another, in order, and returns each caller its result",
  onVirtualClock(async () => {
    const turns = new Turns(always);
    const log: string[] = [];
    const done = await Promise.all([turns.run(noted("a", 3, log), always), turns.run(noted("b", 2, log), always)]);
    assert.deepEqual(done, ["a", "b"]);
    assert.deepEqual(log, ["a1", "a2", "a3", "b1", "b2"]);
  }),
);

/** Lets all microtasks run, and no timer. */
async function microtasks(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

Deno.test(
  "work of one step is done synchronously unless other work is before it",
  onVirtualClock(async () => {
    const turns = new Turns(always);
    const log: string[] = [];
    assert.equal(turns.run(noted("a", 1, log), always), "a");
    const two = turns.run(noted("b", 2, log), always);
    const three = turns.run(noted("c", 1, log), always);
    assert.deepEqual(log, ["a1", "b1"]);
    assert.deepEqual(await Promise.all([two, three]), ["b", "c"]);
    await microtasks();
    assert.equal(turns.run(noted("d", 1, log), always), "d");
    assert.deepEqual(log, ["a1", "b1", "b2", "c1", "d1"]);
  }),
);

Deno.test(
  "steps pause until answers were handled while a call waits, and otherwise not at all",
  onVirtualClock(async () => {
    let waiting = true;
    const turns = new Turns(() => waiting);
    const log: string[] = [];
    const work = turns.run(noted("a", 4, log), always);
    await microtasks();
    assert.deepEqual(log, ["a1"]);
    turns.resume();
    turns.resume();
    await microtasks();
    assert.deepEqual(log, ["a1", "a2"]);
    waiting = false;
    turns.resume();
    await microtasks();
    assert.deepEqual(log, ["a1", "a2", "a3", "a4"]);
    assert.equal(await work, "a");
  }),
);

Deno.test(
  "a pause ends by itself if no answer arrives",
  onVirtualClock(async () => {
    const log: string[] = [];
    assert.equal(await new Turns(always).run(noted("a", 3, log), always), "a");
  }),
);

Deno.test(
  "work that is no longer wanted ends between two steps, and the next work is done",
  onVirtualClock(async () => {
    const turns = new Turns(always);
    const log: string[] = [];
    const left = turns.run(noted("a", 9, log), () => log.length < 2);
    const next = turns.run(noted("b", 1, log), always);
    assert.deepEqual([await left, await next], [undefined, "b"]);
    assert.deepEqual(log, ["a1", "a2", "b1"]);
  }),
);

Deno.test(
  "an error in a step is thrown to its own caller only",
  onVirtualClock(async () => {
    const turns = new Turns(always);
    const failing = function* (steps: number): Steps<void> {
      yield* noted("a", steps, []);
      throw new Error("no");
    };
    assert.throws(() => turns.run(failing(1), always), /no/);
    const later = Promise.resolve(turns.run(failing(2), always));
    const next = turns.run(noted("b", 1, []), always);
    await assert.rejects(later, /no/);
    assert.equal(await next, "b");
  }),
);

for (const frames of [true, false]) {
  Deno.test(
    `the window is refilled while the next batch is encoded: ${frames ? "frames" : "publish"}`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames, manual: true });
      const publisher = await Publisher.open(fake.nc, { stream: "ORDERS", subject: "orders.all", maxInFlight: 100 });
      const rows = 20_000;
      const publishing = publisher.publish({ resource: "r", rows: numberBatch(rows) });
      await until("a full window", () => publisher.stats().inFlight === 100);
      // The last row repeats the first row's id with another body: that is detected once all rows are encoded.
      const ids = textColumn("_filament_event_id", Array.from({ length: rows }, (_, i) => `${i % (rows - 1)}`));
      const strings = textColumn("text", Array.from({ length: rows }, (_, i) => `${i} ${"x".repeat(250)}`));
      let sent: number | undefined;
      const refused = assert.rejects(
        publisher.publish({ resource: "r", rows: batchOf([ids, strings], rows) }).finally(() => {
          sent = fake.published.length;
        }),
        (error: Error) => error instanceof EncodeError && error.code === "encode.duplicate_id",
      );
      while (sent === undefined) {
        fake.deliver();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await refused;
      assert.ok(sent >= 300, `${sent} rows were sent when the other batch was encoded`);
      while (publisher.stats().acked < rows) {
        fake.deliver();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      assert.equal((await publishing).rows, rows);
      await publisher.close();
    }),
  );
}

Deno.test(
  "an abort between two steps of encoding sends nothing of the batch and leaves the publisher usable",
  onVirtualClock(async () => {
    const fake = fakeConnection({ frames: true, manual: true });
    const publisher = await Publisher.open(fake.nc, { stream: "ORDERS", subject: "orders.all", maxInFlight: 10 });
    const first = publisher.publish({ resource: "r", rows: numberBatch(20) });
    await until("a full window", () => publisher.stats().inFlight === 10);
    const controller = new AbortController();
    const large = batchOf([textColumn("text", Array.from({ length: 9000 }, () => "x".repeat(250)))], 9000);
    const second = publisher.publish({ resource: "r", rows: large }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 0);
    await assert.rejects(second, { code: "publish.aborted", outcome: "none" });
    const third = publisher.publish({ resource: "r", rows: numberBatch(5) });
    while (publisher.stats().acked < 25) {
      fake.deliver();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    assert.deepEqual([(await first).rows, (await third).rows, fake.published.length], [20, 5, 25]);
    await publisher.close();
  }),
);

Deno.test(
  "the callback of encoded rows is not called once the call was aborted",
  onVirtualClock(async () => {
    const fake = fakeConnection({ frames: true });
    const core = await PublisherCore.open(fake.nc, { stream: "ORDERS", subject: "orders.all" });
    const states: boolean[] = [];
    for (let turns = 0; turns < 20; turns++) {
      const abort = new AbortController();
      const source = openBatch({ resource: "r", rows: idBatch(3000) }, core.settings);
      const before = (): Promise<void> => {
        states.push(call.isOver);
        return Promise.resolve();
      };
      const options = { signal: abort.signal, cut: true, before };
      const call = core.start(source, { from: 0, count: 3000 }, options);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      abort.abort();
      await call.done.catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    assert.ok(states.length > 0 && !states.includes(true), `${states}`);
    await core.close();
  }),
);
