/**
 * The ways to publish that are compared, each in its own process.
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
import { ID_LENGTH } from "../src/hash/message_id.ts";
import { headerBlock } from "../src/message/headers.ts";
import type { EncodedRows } from "../src/types/mod.ts";
import { buildGoPeer, runGoPeer, writeJob } from "./support/go_peer.ts";
import { ownCpu, type Sample } from "./support/measure.ts";
import { pipeline } from "./support/pipeline.ts";
import { makeFrames, RawSocket } from "./support/raw_socket.ts";
import { sizedBatches } from "./support/rows.ts";
import { runtimeConnect, runtimeName, STREAM, SUBJECT } from "./support/stage.ts";

/** What a contender publishes, repeatedly. */
export interface Job {
  readonly contender: keyof typeof contenders;
  readonly url: string;
  readonly rows: number;
  readonly bytes: number;
  readonly window: number;
  readonly ids: boolean;
}

type Run = () => Promise<Sample>;

/** The ways, by name. All but jetrow receive bodies, and ids if there are any, that were made before. */
export const contenders = { "jetrow": jetrow, "raw socket": rawSocket, "js.publish": pipelined, "nats.go": goAsync };

async function jetrow(job: Job): Promise<Run> {
  const options = { stream: STREAM, subject: SUBJECT, maxInFlight: job.window, maxInFlightBytes: 64 << 20 };
  const batches = batchesOf(job).map((rows) => ({ resource: "rows", rows }));
  const connect = await runtimeConnect();
  return async () => {
    await using run = await openRun(() => connect({ url: job.url }), options);
    const sample = await measured(job.rows, () => run.applyAll(batches));
    await run.commit();
    return sample;
  };
}

async function rawSocket(job: Job): Promise<Run> {
  const { bodies, ids } = messagesOf(job);
  const { bytes, idAt } = headerBlock({ operation: "insert", expectedStream: STREAM, headers: [], withId: job.ids });
  const withId = (index: number): Uint8Array => {
    bytes.set(ids!.subarray(index * ID_LENGTH, (index + 1) * ID_LENGTH), idAt);
    return bytes;
  };
  const frames = makeFrames({ subject: SUBJECT, block: job.ids ? withId : () => bytes, bodies });
  const socket = await RawSocket.open(job.url);
  return () => measured(job.rows, () => socket.send(frames, job.window));
}

/** `js.publish` with at most `window` unanswered publishes. */
async function pipelined(job: Job): Promise<Run> {
  const connect = await runtimeConnect();
  const js = jetstream(await connect({ url: job.url }));
  const { bodies, ids } = messagesOf(job);
  const headers = newHeaders();
  headers.set("Content-Type", "application/json");
  headers.set("Filament-Operation", "insert");
  const id = (index: number) => String.fromCharCode(...ids!.subarray(index * ID_LENGTH, (index + 1) * ID_LENGTH));
  const expect = { streamName: STREAM };
  return () =>
    measured(job.rows, async () => {
      const publishing = pipeline(job.window);
      let index = 0;
      for (const { bytes, offsets } of bodies) {
        for (let row = 0; row + 1 < offsets.length; row++, index++) {
          const body = bytes.subarray(offsets[row], offsets[row + 1]);
          const options = job.ids ? { headers, expect, msgID: id(index) } : { headers, expect };
          const room = publishing.next(() => js.publish(SUBJECT, body, options));
          if (room !== undefined) await room;
        }
      }
      await publishing.end();
    });
}

async function goAsync(job: Job): Promise<Run> {
  const program = await buildGoPeer(process.cwd(), () => {});
  const file = writeJob(process.cwd(), `bench-${runtimeName()}`, messagesOf(job));
  return () => runGoPeer(program!, { url: job.url, stream: STREAM, subject: SUBJECT, window: job.window }, file);
}

async function measured(count: number, work: () => Promise<unknown>): Promise<Sample> {
  const cpu = ownCpu();
  const start = performance.now();
  await work();
  return { count, seconds: (performance.now() - start) / 1000, clientCpu: ownCpu() - cpu };
}

function batchesOf({ rows, bytes, ids }: Job): RecordBatch[] {
  return sizedBatches(rows, bytes, ids, Math.min(8192, (8 << 20) / bytes));
}

function messagesOf(job: Job): { readonly bodies: readonly EncodedRows[]; readonly ids: Uint8Array | undefined } {
  return { bodies: batchesOf(job).map((batch) => encodeRows(batch)), ids: job.ids ? hashed(job.rows) : undefined };
}

/** Ids of rows; any 64 hex digits would do. */
function hashed(count: number): Uint8Array {
  const names = { tenant: "", pipeline: "", sinkConnection: "", stream: STREAM, subject: SUBJECT, resource: "r" };
  const hasher = idHasher(names);
  const ids = new Uint8Array(count * ID_LENGTH);
  const utf8 = new TextEncoder();
  for (let i = 0; i < count; i++) hasher.write(utf8.encode(`${i}`.padStart(9, "e")), 0, 9, ids, i * ID_LENGTH);
  return ids;
}
