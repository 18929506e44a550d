import assert from "node:assert/strict";
import { PermissionViolationError } from "@nats-io/nats-core";
import fc from "fast-check";
import { type Options, Publisher, PublishError, type RowBatch } from "../../mod.ts";
import { assertOutcomes } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import {
  type Answer,
  fakeConnection,
  NO_RESPONDERS,
  type Published,
  refusal,
  StreamModel,
  TOO_MANY_REQUESTS,
} from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";
import { answerLate, assertReleased, BASE, fakeOver } from "./_scripted.ts";

/** What happens to a message: whether it is stored, and the answer. */
const FATES: Readonly<Record<string, (store: () => Answer) => Answer | readonly Answer[] | undefined>> = {
  good: (store) => store(),
  repeated: (store) => ({ ...store(), times: 3 }),
  lost: () => undefined,
  "stored, answer lost": (store) => void store(),
  "no responders": () => NO_RESPONDERS,
  overloaded: () => TOO_MANY_REQUESTS,
  refused: () => refusal(400, 10054, "too large"),
  full: () => refusal(503, 10077, "full"),
  "in process": (store) => {
    store();
    return refusal(409, 10158, "in process");
  },
  malformed: (store) => {
    store();
    return { body: "+ACK" };
  },
  "of another stream": () => ({ body: { stream: "OTHER", seq: 1 } }),
};

const scene = fc.record({
  calls: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
  ids: fc.boolean(),
  retry: fc.boolean(),
  frames: fc.boolean(),
  owned: fc.boolean(),
  maxInFlight: fc.integer({ min: 1, max: 10 }),
  manual: fc.boolean(),
  fates: fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant("good") }, fc.constantFrom(...Object.keys(FATES))), {
    minLength: 1,
    maxLength: 12,
  }),
  incident: fc.option(
    fc.record({ at: fc.nat(25), what: fc.constantFrom("lose", "disconnect", "permission", "abort", "close") }),
  ),
  order: fc.infiniteStream(fc.nat()),
});

Deno.test(
  "after any failures calls end, outcomes agree with the stream, and a replay stores every row",
  onVirtualClock(async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (scene) => {
        const { calls, ids, retry, frames, owned, maxInFlight, fates, incident, order } = scene;
        const stream = new StreamModel();
        const abort = new AbortController();
        let closing: Promise<void> | undefined;
        const happen = (): void => {
          switch (incident?.what) {
            case "lose":
              return fake.lose();
            case "disconnect":
              return fake.disconnect();
            case "permission":
              return fake.emit({ type: "error", error: new PermissionViolationError("no", "publish", "orders.eu") });
            case "abort":
              return abort.abort();
            case "close":
              closing = publisher.close();
          }
        };
        const fake = fakeConnection({
          frames,
          manual: scene.manual,
          answers: (published: Published) => {
            if (published.index === incident?.at) queueMicrotask(happen);
            return FATES[fates[published.index % fates.length]!]!(() => stream.store(published));
          },
        });
        const options: Options = {
          ...BASE,
          maxInFlight,
          publishTimeout: 100,
          ...(retry ? { retry: { budget: 800 } } : {}),
        };
        const publisher = await Publisher.open(owned ? () => Promise.resolve(fake.nc) : fake.nc, options);
        const total = calls.reduce((sum, rows) => sum + rows, 0);
        const all = (ids ? idBatch : numberBatch)(total);
        const starts = calls.map((_, call) => calls.slice(0, call).reduce((sum, rows) => sum + rows, 0));
        const batches = calls.map((rows, call): RowBatch => ({
          resource: "eu",
          rows: all,
          only: Array.from({ length: rows }, (_, row) => starts[call]! + row),
        }));
        const results = Promise.allSettled(
          batches.map((batch, call) => publisher.publish(batch, call === 0 ? { signal: abort.signal } : {})),
        );
        let over = false;
        results.then(() => over = true);
        const dice = order[Symbol.iterator]();
        for (const until = performance.now() + 60_000; !over; await new Promise((resolve) => setTimeout(resolve, 1))) {
          assert.ok(performance.now() < until, "every call ends");
          if (scene.manual) fake.deliverIn((waiting) => [...waiting].sort(() => dice.next().value % 3 - 1));
        }
        const unsettled: number[] = [];
        const times = (row: number): number => stream.rows.filter((n) => n === row).length;
        (await results).forEach((result, call) => {
          const { only } = batches[call]!;
          if (result.status === "fulfilled") {
            assert.equal(result.value.rows, only!.length);
            for (const row of only!) assert.equal(times(row), 1, "a receipt is of stored rows");
            return;
          }
          const error = result.reason as PublishError;
          assert.ok(error instanceof PublishError, String(error));
          const { counts } = error.rowOutcomes;
          assert.equal(Object.values(counts).reduce((sum, count) => sum + count, 0), only!.length);
          for (const row of only!) {
            const word = error.rowOutcomes.at(row);
            const settled = word === "acked" || word === "duplicate";
            if (settled) assert.equal(times(row), 1, `row ${row} is ${word}`);
            if (word === "unsent") assert.equal(times(row), 0, `row ${row} is unsent`);
            if (word === "rejected") assert.equal(times(row), 0, `row ${row} is rejected`);
          }
          if (only!.length > 0 && only![0] === 0 && only!.length === total) assertOutcomes(error, total);
          unsettled.push(...error.rowOutcomes.unsettled());
        });
        if (!ids) assert.equal(new Set(stream.rows).size, stream.rows.length, "what has no id is stored once at most");
        await (closing ?? publisher.close());
        assertReleased(fake, owned);
        const { inFlight, inFlightBytes, ...stats } = publisher.stats();
        assert.deepEqual([inFlight, inFlightBytes], [0, 0]);
        answerLate(fake);
        assert.equal(publisher.stats().acked, stats.acked);
        const again = await Publisher.open(fakeOver(stream, frames).nc, BASE);
        await again.publish({ resource: "eu", rows: all, only: unsettled });
        await again.close();
        for (let row = 0; row < total; row++) {
          if (ids) assert.equal(times(row), 1, `row ${row} after the replay`);
          else assert.ok(times(row) >= 1, `row ${row} after the replay`);
        }
      }),
      { numRuns: Number(Deno.env.get("RUNS") ?? 150) },
    );
  }),
);
