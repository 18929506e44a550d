/**
 * Publishing: rows of Arrow batches, encoded, sent and acknowledged, beside what could be had without jetrow. The
 * others are given bodies that were encoded before.
 *
 * @module
 */

import { jetstream } from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/nats-core";
import type { RecordBatch } from "apache-arrow";
import process from "node:process";
import { idHasher } from "../src/hash/message_id.ts";
import { encodeRows } from "../src/json/encode.ts";
import { openRun } from "../src/lifecycle/run.ts";
import { headerBlock, ID_BYTES } from "../src/message/headers.ts";
import type { EncodedRows } from "../src/types.ts";
import { buildGoPeer, runGoPeer, writeJob } from "./support/go_peer.ts";
import { type Bench, compare, type Contender, type Sample, withServer } from "./support/measure.ts";
import { makeFrames, RawSocket } from "./support/raw_socket.ts";
import { sizedBatches } from "./support/rows.ts";
import { runtimeName, Stage, STREAM, SUBJECT } from "./support/stage.ts";

/** What is published, and how. */
interface Case {
  readonly bytes: number;
  readonly storage: "file" | "memory";
  readonly window: number;
  readonly ids: boolean;
}

const USUAL: Case = { bytes: 256, storage: "file", window: 1024, ids: false };
const CASES: readonly Case[] = [
  USUAL,
  { ...USUAL, ids: true },
  { ...USUAL, storage: "memory" },
  { ...USUAL, storage: "memory", ids: true },
  { ...USUAL, bytes: 64 },
  { ...USUAL, bytes: 1024 },
  { ...USUAL, bytes: 16_384 },
  { ...USUAL, window: 1 },
  { ...USUAL, window: 64 },
  { ...USUAL, window: 16_384 },
  { ...USUAL, window: 16_384, ids: true },
];
const QUICK: readonly Case[] = [USUAL, { ...USUAL, ids: true }];

/** Bytes of bodies that one measurement publishes, at most. */
const VOLUME = 48 << 20;

/** Runs the suite. */
export async function publish(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  const root = process.cwd();
  const goPeer = await buildGoPeer(root, bench.say);
  for (const each of bench.quick && bench.only.length === 0 ? QUICK : CASES) {
    const name = nameOf(each);
    if (bench.only.length > 0 && !bench.only.some((word) => name.includes(word))) continue;
    const messages = messagesOf(each, rowsOf(each, bench.quick));
    const contenders = [jetrow(stage, each, messages), await rawSocket(stage, each, messages)];
    contenders.push(await pipelined(stage, each, messages));
    if (goPeer !== undefined) contenders.push(goAsync(stage, each, messages, goPeer, root));
    await compare(bench, { suite: "publish", case: name, unit: "rows" }, contenders);
  }
}

function nameOf({ bytes, storage, window, ids }: Case): string {
  return `${bytes} B, ${storage}, window ${window}${ids ? ", ids" : ""}`;
}

function rowsOf({ bytes, window }: Case, quick: boolean): number {
  const most = window === 1 ? 4000 : Math.min(160_000, Math.floor(VOLUME / bytes));
  return quick ? Math.ceil(most / 2) : most;
}

interface Rows {
  readonly count: number;
  readonly batches: readonly RecordBatch[];
  readonly bodies: readonly EncodedRows[];
  readonly ids: Uint8Array | undefined;
}

function messagesOf(each: Case, count: number): Rows {
  const batches = sizedBatches(count, each.bytes, each.ids, Math.min(8192, (8 << 20) / each.bytes));
  return { count, batches, bodies: batches.map((batch) => encodeRows(batch)), ids: each.ids ? hash(count) : undefined };
}

/** Ids of rows; any 64 hex digits would do. */
function hash(count: number): Uint8Array {
  const hasher = idHasher({
    tenant: "",
    pipeline: "",
    sinkConnection: "",
    stream: STREAM,
    subject: SUBJECT,
    resource: "r",
  });
  const ids = new Uint8Array(count * ID_BYTES);
  const utf8 = new TextEncoder();
  for (let i = 0; i < count; i++) hasher.write(utf8.encode(`${i}`.padStart(9, "e")), 0, 9, ids, i * ID_BYTES);
  return ids;
}

async function measured(stage: Stage, each: Case, { count }: Rows, work: () => Promise<unknown>): Promise<Sample> {
  const sample = await withServer(stage.server.pid, count, work);
  const stored = await stage.stored();
  if (stored !== count) throw new Error(`${nameOf(each)}: ${stored} of ${count} rows are stored`);
  return sample;
}

function jetrow(stage: Stage, each: Case, rows: Rows): Contender {
  const options = { stream: STREAM, subject: SUBJECT, maxInFlight: each.window, maxInFlightBytes: 64 << 20 };
  const batches = rows.batches.map((batch) => ({ resource: "rows", rows: batch }));
  return {
    name: "jetrow",
    async run() {
      await stage.freshStream(each.storage);
      await using run = await openRun(() => stage.connect({ url: stage.server.url }), options);
      const sample = await measured(stage, each, rows, () => run.applyAll(batches));
      await run.commit();
      return sample;
    },
  };
}

async function rawSocket(stage: Stage, each: Case, { bodies, ids, ...rows }: Rows): Promise<Contender> {
  const { bytes, idAt } = headerBlock({ operation: "insert", expectedStream: STREAM, headers: [], withId: each.ids });
  const withId = (index: number): Uint8Array => {
    bytes.set(ids!.subarray(index * ID_BYTES, (index + 1) * ID_BYTES), idAt);
    return bytes;
  };
  const frames = makeFrames({ subject: SUBJECT, block: each.ids ? withId : () => bytes, bodies });
  const socket = await RawSocket.open(stage.server.url);
  return {
    name: "raw socket",
    async run() {
      await stage.freshStream(each.storage);
      return await measured(stage, each, { bodies, ids, ...rows }, () => socket.send(frames, each.window));
    },
  };
}

/** `js.publish` with as many publishes unanswered as the window has places. */
async function pipelined(stage: Stage, each: Case, rows: Rows): Promise<Contender> {
  const nc = await stage.connect({ url: stage.server.url });
  const js = jetstream(nc);
  const headers = newHeaders();
  headers.set("Content-Type", "application/json");
  headers.set("Filament-Operation", "insert");
  const id = (index: number) => String.fromCharCode(...rows.ids!.subarray(index * ID_BYTES, (index + 1) * ID_BYTES));
  return {
    name: "js.publish",
    async run() {
      await stage.freshStream(each.storage);
      return await measured(stage, each, rows, async () => {
        let index = 0;
        let free = each.window;
        let wake: (() => void) | undefined;
        for (const { bytes, offsets } of rows.bodies) {
          for (let row = 0; row + 1 < offsets.length; row++, index++) {
            while (free === 0) await new Promise<void>((resolve) => wake = resolve);
            free--;
            js.publish(SUBJECT, bytes.subarray(offsets[row], offsets[row + 1]), {
              headers,
              expect: { streamName: STREAM },
              ...(each.ids ? { msgID: id(index) } : {}),
            }).then(() => {
              free++;
              wake?.();
              wake = undefined;
            });
          }
        }
        while (free < each.window) await new Promise<void>((resolve) => wake = resolve);
      });
    },
  };
}

function goAsync(stage: Stage, each: Case, { bodies, ids }: Rows, program: string, root: string): Contender {
  const file = writeJob(root, `bench-${runtimeName()}`, { bodies, ids });
  const job = { url: stage.server.url, stream: STREAM, subject: SUBJECT, window: each.window, bodies, ids };
  return {
    name: "nats.go",
    async run() {
      await stage.freshStream(each.storage);
      return await runGoPeer(program, job, file, stage.server.pid);
    },
  };
}
