import assert from "node:assert/strict";
import fc from "fast-check";
import { isJetrowError, type Options, Publisher, type PublishError, type WriteReceipt } from "../../mod.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { type Chances, lossyAtomicServer, lossyFastServer, type LossyServer } from "./_lossy_server.ts";
import { onVirtualClock } from "../_support/clock.ts";

const SERVERS = { fast: lossyFastServer, atomic: lossyAtomicServer } as const;

const chance = fc.constantFrom(0, 0.002, 0.01, 0.05);
const chances: fc.Arbitrary<Chances> = fc.record({
  lost: chance,
  noResponders: chance,
  refused: chance,
  silent: fc.constantFrom(0, 0.01, 0.05, 0.3),
  forgets: fc.constantFrom(0, 0.001, 0.01),
});
const scene = fc.record({
  seed: fc.integer(),
  chances,
  calls: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
  maxInFlight: fc.integer({ min: 40, max: 90 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

interface Outcome {
  readonly first: number;
  readonly rows: number;
  readonly result: WriteReceipt | PublishError;
}

/** Publishes all calls at once; their rows are numbered consecutively. */
async function play(
  { fake }: LossyServer,
  { calls, maxInFlight }: Scene,
  options: Partial<Options>,
): Promise<readonly Outcome[]> {
  const base = { stream: "ORDERS", subject: "orders.{resource}", publishTimeout: 30, maxInFlight, ...options };
  await using publisher = await Publisher.open(fake.nc, base);
  let next = 0;
  const outcomes = await Promise.all(calls.map(async (rows): Promise<Outcome> => {
    const first = next;
    next += rows;
    const publishing = publisher.publish({ resource: "eu", rows: idBatch(rows, { first }) });
    const result = await publishing.catch((error: unknown) => {
      assert.ok(isJetrowError(error) && error.name === "PublishError", `no PublishError: ${error}`);
      return error;
    });
    return { first, rows, result };
  }));
  assert.deepEqual([publisher.stats().inFlight, publisher.stats().inFlightBytes], [0, 0], "nothing outstanding");
  return outcomes;
}

/** How often each row is stored. */
function timesStored(stored: readonly string[]): Map<number, number> {
  const times = new Map<number, number>();
  for (const body of stored) {
    const { n } = JSON.parse(body) as { n: number };
    times.set(n, (times.get(n) ?? 0) + 1);
  }
  return times;
}

for (const publishMode of ["fast", "atomic"] as const) {
  Deno.test(
    `${publishMode}: whatever is lost, acked rows are stored, rejected and unsent rows are not, and every row is counted`,
    onVirtualClock(async () => {
      await fc.assert(
        fc.asyncProperty(scene, async (scene) => {
          const server = SERVERS[publishMode](scene.seed, scene.chances);
          const outcomes = await play(server, scene, { publishMode });
          const times = timesStored(server.stored);
          for (const { first, rows, result } of outcomes) {
            if (!("rowOutcomes" in result)) {
              for (let i = 0; i < rows; i++) assert.equal(times.get(first + i), 1, "a row of a receipt");
              continue;
            }
            const { counts } = result.rowOutcomes;
            assert.equal(Object.values(counts).reduce((sum, count) => sum + count, 0), rows);
            const words = Array.from({ length: rows }, (_, i) => result.rowOutcomes.at(i));
            words.forEach((word, i) => {
              const there = times.get(first + i) ?? 0;
              if (word === "acked") assert.equal(there, 1, `row ${i} is acked`);
              if (word === "rejected" || word === "unsent") {
                assert.equal(there, 0, `row ${i} is ${word}: ${result.message}`);
              }
            });
            if (publishMode === "atomic") {
              assert.equal(new Set(words.map((_, i) => times.get(first + i) ?? 0)).size, 1, "whole or not at all");
            }
            const known = counts.unknown > 0 ? "uncertain" : "partial";
            assert.ok([known, "none"].includes(result.outcome));
          }
        }),
        { numRuns: 60 },
      );
    }),
  );

  Deno.test(
    `${publishMode} with retry: no row is stored twice, and every row of a receipt is stored`,
    onVirtualClock(async () => {
      await fc.assert(
        fc.asyncProperty(scene, async (scene) => {
          const server = SERVERS[publishMode](scene.seed, { ...scene.chances, refused: 0 });
          const outcomes = await play(server, scene, { publishMode, retry: { budget: 500 } });
          const times = timesStored(server.stored);
          for (const there of times.values()) assert.equal(there, 1);
          for (const { first, rows, result } of outcomes) {
            if ("rowOutcomes" in result) {
              // A batch that was stored and whose answer was lost is refused for its ids: this server cannot be read.
              if (publishMode === "atomic" && result.serverCode === 10201) continue;
              result.rowOutcomes.unsettled().forEach((row) => assert.ok(row < rows));
              continue;
            }
            for (let i = 0; i < rows; i++) assert.equal(times.get(first + i), 1, "a row of a receipt");
          }
        }),
        { numRuns: 12 },
      );
    }),
  );
}
