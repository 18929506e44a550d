/**
 * Rows with ids through `publishAll` while the server is killed and restarted: in the end the stream holds every row
 * once, with the right content.
 *
 * @module
 */

import assert from "node:assert/strict";
import { jetstream } from "@nats-io/jetstream";
import { connect, publishAll, type RowBatch, type RunReceipt, type SinkConfig } from "../../src/runtime/deno.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { type NatsServer, startNatsServer } from "../_support/nats/mod.ts";

/** Options of a soak run. */
export interface SoakOptions {
  /** The number of rows. */
  readonly rows: number;
  /** How often the server is ended, each time at a random row. */
  readonly ends: number;
  /** The same seed gives the same batches, pieces and rows at which the server ends. */
  readonly seed: number;
  /** Called with progress messages. @default none are reported */
  readonly say?: (line: string) => void;
}

/** What happened in a soak run. */
export interface SoakReport {
  /** The totals that `publishAll` returned. */
  readonly total: RunReceipt;
  /** Batches passed. */
  readonly batches: number;
  /** Receipts received. */
  readonly receipts: number;
  /** How often the server was killed (SIGKILL). */
  readonly killed: number;
  /** How often it was stopped in order (SIGTERM). */
  readonly stopped: number;
  /** Connections made. */
  readonly connections: number;
  /** Milliseconds from the first row to the last receipt. */
  readonly milliseconds: number;
}

const LARGEST_BATCH = 20_000;

/** Publishes, ends the server, and checks. Throws if a row is missing, stored twice or changed. */
export async function soak({ rows, ends, seed, say = () => {} }: SoakOptions): Promise<SoakReport> {
  const random = randomOf(seed);
  const sizes = batchSizes(rows, random);
  const points = Array.from({ length: ends }, () => random(Math.floor(rows * 0.9))).sort((a, b) => a - b);
  const pieceRows = 500 + random(8000);
  say(`seed ${seed}: ${rows} rows in ${sizes.length} batches, pieces of ${pieceRows}, ${ends} ends of the server`);
  await using server = await startNatsServer();
  const config: SinkConfig = { url: server.url, stream: "SOAK", subject: "soak.{resource}", publishTimeout: "5s" };
  const seen = { rows: 0, receipts: 0, connections: 0 };
  const over = new AbortController();
  const ending = endAt(server, points, () => seen.rows, random, over.signal, say);
  const start = performance.now();
  const total = await publishAll(
    async () => {
      const nc = await connect(config);
      seen.connections++;
      return nc;
    },
    config,
    batchesOf(sizes),
    {
      budget: "5m",
      batchMaxRows: pieceRows,
      onReceipt: (receipt) => {
        seen.rows += receipt.rows;
        seen.receipts++;
      },
    },
  ).finally(async () => {
    over.abort();
    await ending;
  });
  const milliseconds = performance.now() - start;
  const ended = await ending;
  assert.equal(total.rows, rows);
  assert.equal(seen.rows, rows);
  await assertStored(server, rows, say);
  return {
    total,
    batches: sizes.length,
    receipts: seen.receipts,
    connections: seen.connections,
    milliseconds,
    ...ended,
  };
}

/** Ends the server at each of these rows, and starts it again. */
async function endAt(
  server: NatsServer,
  points: readonly number[],
  progress: () => number,
  random: (below: number) => number,
  over: AbortSignal,
  say: (line: string) => void,
): Promise<{ killed: number; stopped: number }> {
  const ended = { killed: 0, stopped: 0 };
  for (const point of points) {
    while (progress() < point && !over.aborted) await pause(1);
    if (over.aborted) break;
    await pause(random(30)); // in the middle of a piece
    const how = random(4) === 0 ? "stopped" : "killed";
    ended[how]++;
    say(`${how} after ${progress()} rows`);
    await (how === "killed" ? server.kill() : server.stop());
    await pause(random(300));
    await server.restart();
  }
  return ended;
}

function* batchesOf(sizes: readonly number[]): Generator<RowBatch> {
  let first = 0;
  for (const size of sizes) {
    yield { resource: "rows", rows: idBatch(size, { first }) };
    first += size;
  }
}

function batchSizes(rows: number, random: (below: number) => number): number[] {
  const sizes: number[] = [];
  for (let left = rows; left > 0; left -= sizes.at(-1)!) sizes.push(Math.min(left, random(LARGEST_BATCH)));
  return sizes;
}

/** Reads the whole stream. */
async function assertStored(server: NatsServer, rows: number, say: (line: string) => void): Promise<void> {
  const nc = await connect({ url: server.url });
  const times = new Uint8Array(rows);
  const consumer = await jetstream(nc).consumers.get("SOAK");
  const messages = await consumer.consume({ max_messages: 20_000 });
  let read = 0;
  for await (const message of messages) {
    const text = message.string();
    const n = Number(/^\{"n":(\d+),/.exec(text)?.[1]);
    assert.equal(text, `{"n":${n},"_filament_event_id":"evt-${String(n).padStart(6, "0")}"}`);
    assert.ok(n < rows && ++times[n]! === 1, `row ${n} is stored ${times[n]} times`);
    if (++read % 250_000 === 0) say(`${read} rows read back`);
    if (message.info.pending === 0) break;
  }
  await nc.close();
  assert.equal(read, rows, "every row is stored");
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Random integers below a bound, the same for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor(((t ^ (t >>> 14)) >>> 0) / 2 ** 32 * below);
  };
}
