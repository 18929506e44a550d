import assert from "node:assert/strict";
import { openRun, type Options, publishAll, Publisher } from "../../mod.ts";
import { ProgressReporter } from "../../src/publish/progress.ts";
import type { Progress } from "../../src/types/mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { ack, fakeConnection, NO_RESPONDERS, type Published } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

const progress = (acked: number): Progress => ({ submitted: acked, acked, bytes: 0, inFlight: 0, inFlightBytes: 0 });

Deno.test(
  "onProgress is called at most ten times a second, and with the last change",
  onVirtualClock(async () => {
    let acked = 0;
    const told: { readonly acked: number; readonly at: number }[] = [];
    const reporter = new ProgressReporter(
      ({ acked }) => void told.push({ acked, at: performance.now() }),
      () => progress(acked),
    );
    const start = performance.now();
    while (performance.now() - start < 1000) {
      acked++;
      reporter.noteChange();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const last = acked;
    while (told.at(-1)!.acked < last) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let i = 1; i < told.length; i++) {
      assert.ok(told[i]!.at - told[i - 1]!.at >= 100);
    }
    assert.ok(told.length >= 2);
    reporter.stop();
    reporter.noteChange();
    assert.equal(told.at(-1)!.acked, last);
  }),
);

Deno.test(
  "stats() has the documented fields only",
  onVirtualClock(async () => {
    await using publisher = await Publisher.open(fakeConnection().nc, OPTIONS);
    const fields = ["acked", "bytes", "connected", "created", "duplicates", "failures", "inFlight", "inFlightBytes"];
    assert.deepEqual(Object.keys(publisher.stats()).sort(), fields);
  }),
);

const batch = (rows: number) => ({ resource: "eu", rows: numberBatch(rows) });
const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };

/** Ways to publish 50 rows, each with the number of calls that it makes. */
const CALLS: readonly (readonly [name: string, calls: number, publish: (options: Options) => Promise<unknown>])[] = [
  ["publish()", 5, async (options) => {
    const publisher = await Publisher.open(fakeConnection().nc, options);
    for (let call = 0; call < 5; call++) await publisher.publish(batch(10));
  }],
  ["applyAll()", 1, async (options) => {
    const run = await openRun(fakeConnection().nc, options);
    await run.applyAll(Array.from({ length: 5 }, () => batch(10)), { batchMaxRows: 2 });
  }],
  ["publishAll()", 1, async (options) => {
    const dial = () => Promise.resolve(fakeConnection().nc);
    await publishAll(dial, options, Array.from({ length: 5 }, () => batch(10)), { budget: "1m", batchMaxRows: 2 });
  }],
];

for (const [name, calls, publish] of CALLS) {
  Deno.test(
    `onProgress reports the end of each call before ${name} resolves`,
    onVirtualClock(async () => {
      const reports: Progress[] = [];
      const start = performance.now();
      await publish({ ...OPTIONS, onProgress: (progress) => void reports.push(progress) });
      const tenths = Math.ceil((performance.now() - start) / 100);
      const { submitted, acked, inFlight, inFlightBytes } = reports.at(-1)!;
      assert.deepEqual([submitted, acked, inFlight, inFlightBytes], [50, 50, 0, 0]);
      assert.ok(reports.length <= tenths + 1 + calls, `${reports.length} reports in ${tenths} tenths of a second`);
    }),
  );
}

Deno.test(
  "onProgress reports the end of a call that failed",
  onVirtualClock(async () => {
    const reports: Progress[] = [];
    const answers = ({ index }: Published) => index < 5 ? ack("ORDERS", index + 1) : NO_RESPONDERS;
    const publisher = await Publisher.open(fakeConnection({ answers }).nc, {
      ...OPTIONS,
      onProgress: (progress) => void reports.push(progress),
    });
    await assert.rejects(publisher.publish(batch(10)), { code: "publish.no_responders" });
    const { submitted, acked, inFlight } = reports.at(-1)!;
    assert.deepEqual([submitted, acked, inFlight], [10, 5, 0]);
  }),
);

Deno.test(
  "onProgress is not called again after it has thrown",
  onVirtualClock(() => {
    let calls = 0;
    const reporter = new ProgressReporter(() => {
      calls++;
      throw new Error("not the rows' fault");
    }, () => progress(1));
    reporter.noteChange();
    reporter.noteChange();
    reporter.stop();
    assert.equal(calls, 1);
  }),
);
