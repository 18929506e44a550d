/**
 * Costs that must be proportional: the rate of one unit, at a small size and at larger ones, must stay the same.
 *
 * @module
 */

import { Field, List, type RecordBatch, Utf8 } from "apache-arrow";
import { pieceRanges, resolveLimits } from "../src/arrow/slice.ts";
import { viewRows } from "../src/arrow/view.ts";
import { keySet } from "../src/json/cells/key_set.ts";
import { prepareRows } from "../src/message/prepare.ts";
import { MessageTarget } from "../src/message/target.ts";
import { resolveOptions } from "../src/options/publisher.ts";
import { openBatch } from "../src/publish/prepare_batch.ts";
import { Publisher } from "../src/publish/publisher.ts";
import { Window } from "../src/publish/lanes/window.ts";
import type { PublishMode, RowBatch } from "../src/types/mod.ts";
import { batchOf, intColumn, makeColumn, textColumn } from "../tests/_support/arrow/mod.ts";
import { type Bench, compare, type Contender, timed, withServer } from "./support/measure.ts";
import { sizedBatches } from "./support/rows.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";

const PIECE = 1024;
/** Calls of one row in each measurement. */
const CALLS = 16_384;
const STREAMS = ["COSTS_A", "COSTS_B"];
const KEYS = new TextEncoder().encode(Array.from({ length: 4096 }, (_, i) => `${i}`.padStart(8, "0")).join(""));
const SETTINGS = resolveOptions({ stream: STREAM, subject: SUBJECT });
const TARGET = new MessageTarget({
  resource: "rows",
  stream: STREAM,
  subject: SUBJECT,
  maxMessageBytes: 1 << 20,
  limitedBy: "the bench",
  maxInFlightBytes: SETTINGS.maxInFlightBytes,
  replyBytes: 46,
  scope: { ...SETTINGS.namespace, stream: STREAM, subject: SUBJECT, resource: "rows" },
  expectedStream: true,
  headers: [],
});

/** Runs the suite. */
export async function costs(bench: Bench): Promise<void> {
  const rows = [PIECE, 16 * PIECE, 256 * PIECE];
  await growing(bench, "rows with an operation each, in the batch", "rows", rows, (count) => {
    const operations = Array.from({ length: count }, (_, i) => i % 2 === 0 ? "insert" as const : "delete" as const);
    return { count, work: () => preparePieces({ resource: "rows", rows: numbers(count), operations }, count) };
  });
  await growing(bench, "rows with ids, in the batch", "rows", rows, (count) => {
    const batch = { resource: "rows", rows: withIds(count) };
    return { count, work: () => preparePieces(batch, count) };
  });
  await growing(bench, "rows in the batch, its first piece", "rows", rows, (count) => {
    const batch = { resource: "rows", rows: withIds(count) };
    return { count: PIECE, work: () => preparePieces(batch, PIECE) };
  });
  await growing(bench, "strings in each of 1,024 lists, weighed", "strings", [16, 256, 4096], (items) => {
    const view = viewRows(lists(PIECE, items));
    return { count: PIECE * items, work: () => [...pieceRanges(view, resolveLimits({}))] };
  });
  await growing(bench, "keys of a map", "keys", [16, 256, 4096], (keys) => {
    return { count: keys, work: () => addKeys(keys) };
  });
  await growing(bench, "calls outstanding, each aborted, newest first", "calls", [1024, 4096, 16_384], (calls) => {
    return { count: calls, work: () => abortAll(calls) };
  });
  await using stage = await Stage.open();
  for (const mode of ["individual", "atomic", "fast"] as const) {
    const contenders = [1024, 4096, CALLS].map((window) => callsOfOneRow(stage, mode, window));
    await compare(bench, { suite: "costs", case: `window of calls of one row, ${mode}`, unit: "calls" }, contenders);
  }
}

/** Compares one kind of work at several sizes. */
async function growing(
  bench: Bench,
  name: string,
  unit: string,
  sizes: readonly number[],
  make: (size: number) => { readonly count: number; readonly work: () => unknown },
): Promise<void> {
  if (bench.only.length > 0 && !bench.only.some((word) => name.includes(word))) return;
  const contenders = sizes.map((size): Contender => {
    const { count, work } = make(size);
    return { name: `${size}`, run: () => timed(count, work) };
  });
  await compare(bench, { suite: "costs", case: name, unit }, contenders);
}

function preparePieces(batch: RowBatch, count: number): void {
  const source = openBatch(batch, SETTINGS);
  for (let from = 0; from < count; from += PIECE) prepareRows(source, { from, count: PIECE }, TARGET, false);
}

const numbered = new Map<number, RecordBatch>();

function numbers(rows: number): RecordBatch {
  let batch = numbered.get(rows);
  if (batch === undefined) {
    batch = batchOf([intColumn("n", Array.from({ length: rows }, (_, i) => i))]);
    numbered.set(rows, batch);
  }
  return batch;
}

function withIds(rows: number): RecordBatch {
  return batchOf([textColumn("_filament_event_id", Array.from({ length: rows }, (_, i) => `event ${i}`))]);
}

function lists(rows: number, items: number): RecordBatch {
  const strings = makeColumn(new Utf8(), new Array(rows * items).fill("x"), {
    offsets: Int32Array.from({ length: rows * items + 1 }, (_, i) => i),
    values: new Uint8Array(rows * items).fill(0x78),
  });
  const data = makeColumn(new List(new Field("item", new Utf8())), new Array(rows).fill([]), {
    offsets: Int32Array.from({ length: rows + 1 }, (_, i) => i * items),
    children: [strings],
  });
  return batchOf([{ name: "l", data }]);
}

/** Adds keys of eight digits to the set of keys of one map. */
function addKeys(keys: number): void {
  const set = keySet();
  for (let i = 0; i < keys; i++) if (!set.add(KEYS, 8 * i, 8 * i + 8)) throw new Error(`key ${i} is there twice`);
}

function abortAll(calls: number): void {
  const window = new Window<object>(calls, Infinity);
  const owners = Array.from({ length: calls }, () => ({}));
  for (const owner of owners) window.reserve(owner, 0, 1, 0);
  for (const owner of owners.toReversed()) window.detach(owner);
}

/** Publishes as many calls of one row as fit the window, to two streams in turn. */
function callsOfOneRow(stage: Stage, publishMode: PublishMode, window: number): Contender {
  const [rows] = sizedBatches(1, 64, false);
  const options = { stream: "{resource}", subject: "costs.{resource}", createStream: false, publishMode };
  return {
    name: `${window}`,
    async run() {
      await stage.freshStreams(STREAMS, "costs");
      await using publisher = await Publisher.open(() => stage.connect({ url: stage.server.url }), {
        ...options,
        maxInFlight: window,
      });
      return await withServer(stage.server.pid, CALLS, async () => {
        for (let left = CALLS; left > 0; left -= window) {
          const calls = Array.from(
            { length: window },
            (_, i) => publisher.publish({ resource: STREAMS[i % 2]!, rows: rows! }),
          );
          await Promise.all(calls);
        }
      });
    },
  };
}
