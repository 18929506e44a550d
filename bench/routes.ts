/**
 * The ways to publish rows that each have a subject and a header, every one in its own process.
 *
 * @module
 */

import { jetstream } from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/nats-core";
import type { RecordBatch } from "apache-arrow";
import { openRun } from "../src/lifecycle/run.ts";
import type { PublishMode } from "../src/types/mod.ts";
import { ownCpu, type Sample } from "./support/measure.ts";
import { stringifyRow } from "./support/naive.ts";
import { pipeline } from "./support/pipeline.ts";
import { routedBatches, type RouteValues } from "./support/rows.ts";
import { runtimeConnect, STREAM } from "./support/stage.ts";

/** What to publish, repeatedly. */
export interface RouteJob {
  readonly way: keyof typeof routes;
  readonly url: string;
  readonly publishMode: PublishMode;
  readonly rows: number;
  readonly bytes: number;
  readonly window: number;
  readonly ids: boolean;
  readonly values: RouteValues;
}

type Run = () => Promise<Sample>;

/** Subjects and headers of the same number of bytes. */
const BY_COLUMN = { subject: "bench.{row.customer}", headers: { "X-Kind": "{row.kind}" } };
const FIXED = { subject: "bench.100000", headers: { "X-Kind": "1000" } };

/** The ways, by name. */
export const routes = {
  "jetrow": (job: RouteJob) => jetrow(job, BY_COLUMN),
  "fixed subject": (job: RouteJob) => jetrow(job, FIXED),
  "JSON.stringify and js.publish": byHand,
};

async function jetrow(job: RouteJob, routing: typeof FIXED): Promise<Run> {
  const { window: maxInFlight, publishMode } = job;
  const options = { stream: STREAM, ...routing, maxInFlight, maxInFlightBytes: 64 << 20, publishMode };
  const batches = batchesOf(job).map((rows) => ({ resource: "rows", rows }));
  const connect = await runtimeConnect();
  return async () => {
    await using run = await openRun(() => connect({ url: job.url }), options);
    const sample = await measured(job.rows, () => run.applyAll(batches));
    await run.commit();
    return sample;
  };
}

/** `js.publish` of each row's object, in any mode: the client has the one. */
async function byHand(job: RouteJob): Promise<Run> {
  const connect = await runtimeConnect();
  const js = jetstream(await connect({ url: job.url }));
  const batches = batchesOf(job);
  return () =>
    measured(job.rows, async () => {
      const publishing = pipeline(job.window);
      for (const batch of batches) {
        for (const row of batch) {
          const { customer, kind, _filament_event_id: id } = row.toJSON();
          const body = stringifyRow(row);
          const headers = newHeaders();
          headers.set("Content-Type", "application/json");
          headers.set("Filament-Operation", "insert");
          headers.set("X-Kind", `${kind}`);
          const expect = { streamName: STREAM };
          const options = job.ids ? { headers, expect, msgID: id } : { headers, expect };
          const room = publishing.next(() => js.publish(`bench.${customer}`, body, options));
          // Only without room: awaiting each publish would make the client write one message at a time.
          if (room !== undefined) await room;
        }
      }
      await publishing.end();
    });
}

function batchesOf({ rows, bytes, ids, values }: RouteJob): RecordBatch[] {
  return routedBatches(rows, bytes, ids, values);
}

async function measured(count: number, work: () => Promise<unknown>): Promise<Sample> {
  const cpu = ownCpu();
  const start = performance.now();
  await work();
  return { count, seconds: (performance.now() - start) / 1000, clientCpu: ownCpu() - cpu };
}
