/** Receipts of rows that jetrow did not publish. */

import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { crc32c } from "../../src/hash/crc32c.ts";
import type { WriteReceipt } from "../../src/types/mod.ts";
import { infoOf } from "../_support/nats/mod.ts";

const utf8 = new TextEncoder();

/** A receipt of these rows. */
export function receiptOf(stream: string, bodies: readonly string[], sequences: readonly number[]): WriteReceipt {
  const all = utf8.encode(bodies.join(""));
  const pairs: [number, number][] = [];
  for (const sequence of sequences) {
    const last = pairs.at(-1);
    if (last !== undefined && sequence === last[1] + 1) last[1] = sequence;
    else pairs.push([sequence, sequence]);
  }
  const about = { uri: `nats://${stream}/r`, resource: "r", stream, subject: "s", batch: 0, offset: 0 };
  return { ...about, rows: bodies.length, bytes: all.length, crc32c: crc32c(all), sequences: pairs };
}

/** Stores `rows` rows of about this size, quickly; returns their receipt. */
export async function fill(nc: NatsConnection, stream: string, rows: number, size = 230): Promise<WriteReceipt> {
  const text = "x".repeat(size);
  let crc = 0;
  let bytes = 0;
  for (let n = 0; n < rows; n++) {
    const body = utf8.encode(JSON.stringify({ n, text }));
    crc = crc32c(body, crc);
    bytes += body.length;
    // Every thousandth acknowledgment is awaited, so that the server is not overloaded.
    if (n % 1000 === 999) await nc.request(stream.toLowerCase(), body, { timeout: 10_000 });
    else nc.publish(stream.toLowerCase(), body);
  }
  const { state } = await infoOf(nc, stream);
  assert.equal(state.messages, rows);
  const about = { uri: `nats://${stream}/r`, resource: "r", stream, subject: stream, batch: 0, offset: 0 };
  return { ...about, rows, bytes, crc32c: crc, sequences: [[1, rows]] };
}
