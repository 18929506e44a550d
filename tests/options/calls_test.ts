import assert from "node:assert/strict";
import { type BoundedRun, type EpochSession, openRun, openSession, publishAll, Publisher } from "../../mod.ts";
import type { ConfigErrorCode } from "../../src/errors/mod.ts";
import { resolveCall, resolvePublishAll, resolveSequence } from "../../src/options/calls.ts";
import { failureOf } from "../_support/failed_publish.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { keepsSecret, refuses } from "../_support/config_errors.ts";
import { BASE } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const BUDGET = { budget: "5s" };

Deno.test(
  "the options of a call are resolved with their defaults, each read once",
  onVirtualClock(() => {
    const { signal } = new AbortController();
    const onReceipt = () => {};
    const reads: string[] = [];
    const counted = {
      get signal() {
        reads.push("signal");
        return signal;
      },
      get onReceipt() {
        reads.push("onReceipt");
        return onReceipt;
      },
    };
    const limits = { batchMaxRows: 8192, batchMaxBytes: 16_777_216 };
    assert.deepEqual(resolveSequence(counted), { ...limits, signal, onReceipt });
    assert.deepEqual(reads, ["signal", "onReceipt"]);
    assert.deepEqual(resolveSequence({}), limits);
    assert.deepEqual(resolvePublishAll({ budget: "1m", batchMaxRows: 3 }), {
      ...limits,
      batchMaxRows: 3,
      budget: 60_000,
    });
    assert.deepEqual(resolveCall({ signal }), { signal });
    assert.deepEqual(resolveCall({}), {});
    const controller = new AbortController();
    assert.equal(resolveCall(controller).signal, controller.signal);
    assert.equal(resolveSequence(controller).signal, controller.signal);
  }),
);

Deno.test(
  "an unknown option of a call is refused by name, with the nearest valid name and without its value",
  onVirtualClock(() => {
    type Case = readonly [(options: never) => unknown, options: unknown, ConfigErrorCode, field: string, says: string];
    const cases: readonly Case[] = [
      [resolveCall, { singal: "s3cret" }, "config.unknown", "singal", 'did you mean "signal'],
      [resolveCall, { batchMaxRows: 5 }, "config.unknown", "batchMaxRows", 'did you mean "signal'],
      [resolveCall, null, "config.type", "options", "options must be a plain object: received null"],
      [resolveCall, AbortSignal.abort(), "config.type", "options", "received an AbortSignal"],
      [resolveCall, { signal: new AbortController() }, "config.type", "signal", "received an AbortController"],
      [resolveSequence, { batch_max_rows: 5 }, "config.unknown", "batch_max_rows", 'did you mean "batchMaxRows'],
      [resolveSequence, { onreceipt: () => {} }, "config.unknown", "onreceipt", 'did you mean "onReceipt'],
      [resolveSequence, { onReceipt: 6 }, "config.type", "onReceipt", "must be a function: received 6"],
      [resolveSequence, { batchMaxBytes: 0 }, "config.range", "batchMaxBytes", "received 0"],
      [resolveSequence, { budget: "5s" }, "config.unknown", "budget", "Unknown option"],
      [
        resolvePublishAll,
        { ...BUDGET, batchMaxRow: "s3cret" },
        "config.unknown",
        "batchMaxRow",
        'did you mean "batchMaxRows',
      ],
      [resolvePublishAll, { bugdet: "5s" }, "config.unknown", "bugdet", 'did you mean "budget'],
      [resolvePublishAll, {}, "config.missing", "budget", "budget is required"],
      [resolvePublishAll, { budget: "5" }, "config.syntax", "budget", 'received "5"'],
      [resolvePublishAll, "5s", "config.type", "limits", "limits must be a plain object: received a string"],
    ];
    for (const [resolve, options, code, field, says] of cases) {
      keepsSecret(refuses(() => resolve(options as never), { code, field, says }), "s3cret");
    }
  }),
);

Deno.test(
  "calls that publish refuse an unknown option before they send or read their source",
  onVirtualClock(async () => {
    const ref = { attempt: "a", epoch: 1 };
    const options = { singal: AbortSignal.abort(), onReceipts: () => {} } as object;
    const source = (): never => assert.fail("asked");
    const batches = { [Symbol.iterator]: source };
    const batch = { resource: "eu", rows: numberBatch(1) };
    const run = (call: (run: BoundedRun) => Promise<unknown>) => async () => {
      const { nc, published } = fakeConnection();
      const error = await failureOf(call(await openRun(nc, BASE)));
      assert.equal(published.length, 0);
      return error;
    };
    const session = (call: (session: EpochSession) => Promise<unknown>) => async () => {
      const { nc, published } = fakeConnection();
      const opened = await openSession(nc, BASE, "a");
      await opened.beginEpoch(ref);
      const error = await failureOf(call(opened));
      assert.equal(published.length, 0);
      return error;
    };
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      "publisher.publish": async () => {
        const { nc, published } = fakeConnection();
        const error = await failureOf((await Publisher.open(nc, BASE)).publish(batch, options));
        assert.equal(published.length, 0);
        return error;
      },
      "run.apply": run((run) => run.apply(batch, options)),
      "run.applyAll": run((run) => run.applyAll(batches, options)),
      "session.apply": session((session) => session.apply(batch, ref, options)),
      "session.applyAll": session((session) => session.applyAll(batches, ref, options)),
      "publishAll": () => failureOf(publishAll(() => assert.fail("dialled"), BASE, batches, { ...BUDGET, ...options })),
    };
    for (const [name, call] of Object.entries(calls)) {
      const { code, field } = await call() as { code: string; field: string };
      assert.deepEqual([code, field], ["config.unknown", "singal"], name);
    }
  }),
);
