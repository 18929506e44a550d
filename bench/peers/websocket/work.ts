/**
 * Publishing over WebSocket, with jetrow and without; uses no runtime's API, since workerd also runs it.
 *
 * @module
 */

import { jetstream } from "@nats-io/jetstream";
import { wsconnect } from "@nats-io/nats-core";
import type { RecordBatch } from "apache-arrow";
import { connect, openRun } from "../../../src/runtime/web.ts";
import { stringifyRow } from "../../support/naive.ts";
import { pipeline } from "../../support/pipeline.ts";
import { sizedBatches } from "../../support/rows.ts";

/** What to publish, and how. */
export interface WebSocketJob {
  readonly way: keyof typeof ways;
  readonly url: string;
  readonly stream: string;
  readonly subject: string;
  readonly rows: number;
  readonly bytes: number;
  readonly window: number;
}

/** The ways, by name. Both start from the same Arrow batches. */
export const ways = { "jetrow": byJetrow, "JSON.stringify and js.publish": byHand };

const made = new Map<string, readonly RecordBatch[]>();

/** Dials, publishes all rows, and closes: a worker's connection ends with its request. */
export async function publishOnce(job: WebSocketJob): Promise<void> {
  await ways[job.way](job, batchesOf(job));
}

function batchesOf({ rows, bytes }: WebSocketJob): readonly RecordBatch[] {
  const key = `${rows} of ${bytes}`;
  const batches = made.get(key) ?? sizedBatches(rows, bytes, false);
  made.set(key, batches);
  return batches;
}

async function byJetrow(
  { url, stream, subject, window }: WebSocketJob,
  batches: readonly RecordBatch[],
): Promise<void> {
  await using run = await openRun(() => connect({ url }), { stream, subject, maxInFlight: window });
  await run.applyAll(batches.map((rows) => ({ resource: "rows", rows })));
  await run.commit();
}

async function byHand({ url, subject, window }: WebSocketJob, batches: readonly RecordBatch[]): Promise<void> {
  const nc = await wsconnect({ servers: url });
  const js = jetstream(nc);
  const publishing = pipeline(window);
  for (const batch of batches) {
    for (const row of batch) {
      const body = stringifyRow(row);
      const room = publishing.next(() => js.publish(subject, body));
      // Only without room: awaiting each publish would make the client write one message at a time.
      if (room !== undefined) await room;
    }
  }
  await publishing.end();
  await nc.close();
}
