import assert from "node:assert/strict";
import fc from "fast-check";
import { publishAll, type RowBatch, type WriteReceipt } from "../../../mod.ts";
import { resolveSequence } from "../../../src/options/calls.ts";
import { SequenceRunner } from "../../../src/lifecycle/sequence/runner.ts";
import { resolveOptions } from "../../../src/options/publisher.ts";
import type { PublisherCore } from "../../../src/publish/core.ts";
import type { Call } from "../../../src/publish/call.ts";
import { assertWhole } from "../../_support/failed_publish.ts";
import { idBatch } from "../../_support/arrow/mod.ts";
import { streamInfo, StreamModel } from "../../_support/fake/mod.ts";
import { BASE } from "../../faults/_scripted.ts";
import { LossyDialer } from "../_lossy_dialer.ts";
import { preparingCall } from "../../publish/_calls.ts";
import { onVirtualClock } from "../../_support/clock.ts";

Deno.test(
  "publishAll() stores every row once over connections that are lost at random, also in lookups and between batches",
  onVirtualClock(async () => {
    const scene = fc.record({
      sizes: fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 6 }),
      pieceRows: fc.integer({ min: 1, max: 12 }),
      maxInFlight: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20 })),
      deaths: fc.array(fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constant(-1)), { maxLength: 6 }),
      store: fc.boolean(),
      perResource: fc.boolean(),
      slowSource: fc.boolean(),
      retry: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        scene,
        async ({ sizes, pieceRows, maxInFlight, deaths, store, perResource, slowSource, retry }) => {
          const stream = new StreamModel("S_eu");
          // -1: it is lost in the lookup; for a shared stream that is while it opens.
          const requests = () =>
            deaths[dialer.connections.length - 1] === -1
              ? dialer.loseLast()
              : streamInfo("S_eu", { subjects: ["orders.>"] });
          const dialer: LossyDialer = new LossyDialer({
            stream,
            loseAt: deaths.map((at) => at < 0 ? Infinity : at),
            store,
          }, {
            requests,
          });
          const rows = sizes.reduce((sum, size) => sum + size, 0);
          const batches = sizes.map((size, index): RowBatch => ({
            resource: "eu",
            rows: idBatch(size, { first: sizes.slice(0, index).reduce((sum, each) => sum + each, 0) }),
          }));
          const receipts: WriteReceipt[] = [];
          const total = await publishAll(
            dialer.connect,
            {
              ...BASE,
              stream: perResource ? "S_{resource}" : "S_eu",
              maxInFlight,
              ...(retry ? { retry: { budget: "30s" } } : {}),
            },
            slowSource ? slowly(batches) : batches,
            { budget: "1h", batchMaxRows: pieceRows, onReceipt: (receipt) => void receipts.push(receipt) },
          );
          assertWhole(stream.rows, rows);
          if (maxInFlight === 1) assert.deepEqual(stream.rows, Array.from({ length: rows }, (_, n) => n), "in order");
          assert.equal(total.rows, rows);
          const pieces = sizes.flatMap((size, batch) =>
            size === 0 ? [[batch, 0, 0]] : Array.from({ length: Math.ceil(size / pieceRows) }, (_, i) => [
              batch,
              i * pieceRows,
              Math.min(pieceRows, size - i * pieceRows),
            ])
          );
          assert.deepEqual(receipts.map(({ batch, offset, rows }) => [batch, offset, rows]), pieces);
        },
      ),
      { numRuns: 80 },
    );

    async function* slowly(batches: readonly RowBatch[]) {
      for (const batch of batches) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield batch;
      }
    }
  }),
);

Deno.test(
  "a sequence never has more than two encoded pieces in memory, however the pieces end",
  onVirtualClock(async () => {
    const scene = fc.record({
      batches: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
      pieceRows: fc.integer({ min: 1, max: 10 }),
      holdsRows: fc.boolean(),
      turns: fc.infiniteStream(fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(scene, async ({ batches, pieceRows, holdsRows, turns }) => {
        const core = new StubCore(holdsRows, turns);
        let reported = 0;
        const runner = new SequenceRunner(
          batches.map((size) => ({ resource: "eu", rows: idBatch(size) })),
          resolveSequence({ batchMaxRows: pieceRows }),
          async () => {
            reported++;
            await Promise.resolve();
          },
        );
        assert.deepEqual(await runner.attempt(core as unknown as PublisherCore), { kind: "done" });
        assert.equal(reported, batches.reduce((sum, size) => sum + Math.ceil(size / pieceRows), 0));
        assert.ok(core.most <= 2, `${core.most} encoded pieces at a time`);
      }),
      { numRuns: 100 },
    );
  }),
);

/** A publisher whose deliveries are loaded, submitted and acknowledged in order, at random times. */
class StubCore {
  readonly settings = resolveOptions(BASE);
  readonly holdsRows: boolean;
  most = 0;
  #encoded = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #turns: Iterator<number>;

  constructor(holdsRows: boolean, turns: Iterable<number>) {
    this.holdsRows = holdsRows;
    this.#turns = turns[Symbol.iterator]();
  }

  start(_source: unknown, { from, count }: { from: number; count: number }): Call {
    const call = preparingCall({ count, keepsRows: this.holdsRows });
    const before = this.#last;
    let held = true;
    const released = (): void => {
      if (held) this.#encoded--;
      held = false;
    };
    const rowNumber = (i: number) => from + i;
    const rows = { count, from, release: released, free: () => {}, bodyBytes: 0, crc32c: 0, rowNumber };
    this.#last = (async () => {
      await this.#pause();
      this.most = Math.max(this.most, ++this.#encoded);
      call.load(rows as never, { resource: "eu", stream: "S", subject: "s", duplicateWindow: 0 } as never);
      await before;
      await this.#pause();
      call.submit(0, count, performance.now());
      if (count > 0) call.finishSubmission();
      void this.#pause().then(() => {
        for (let i = 0; i < count; i++) call.acknowledge(i, from + i + 1, false);
        call.settle();
      });
    })();
    return call;
  }

  async #pause(): Promise<void> {
    for (let turns = this.#turns.next().value % 7; turns > 0; turns--) await Promise.resolve();
  }
}
