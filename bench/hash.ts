/**
 * Checksums and message ids.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { crc32c } from "../src/hash/crc32c.ts";
import { idHasher, messageIdentity } from "../src/hash/message_id.ts";
import { useOwnSha256 } from "../src/hash/sha256.ts";
import { useNodeSha256 } from "../src/runtime/sha256_node.ts";
import { type Bench, compare, timed } from "./support/measure.ts";

const SCOPE = {
  tenant: "acme",
  pipeline: "pl_1",
  sinkConnection: "conn_7",
  stream: "WAREHOUSE_EVENTS",
  subject: "warehouse.orders",
  resource: "orders",
};
const IDS = 10_000;
const BODY = 300;

/** Runs the suite. */
export async function hash(bench: Bench): Promise<void> {
  await checksums(bench);
  await ids(bench);
}

async function checksums(bench: Bench): Promise<void> {
  const bytes = new Uint8Array(3 << 20).map((_, i) => Math.imul(i, 2654435761) >>> 24);
  const bodies = Array.from(
    { length: Math.floor(bytes.length / BODY) },
    (_, i) => bytes.subarray(i * BODY, (i + 1) * BODY),
  );
  await compare(bench, { suite: "hash", case: "CRC32C", unit: "B" }, [
    { name: "jetrow, 3 MiB", run: () => timed(bytes.length, () => crc32c(bytes)) },
    {
      name: "jetrow, 300 B each",
      run: () => timed(bytes.length, () => bodies.reduce((seed, body) => crc32c(body, seed), 0)),
    },
    { name: "a table, byte by byte", run: () => timed(bytes.length, () => crcByBytes(bytes)) },
  ]);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

function crcByBytes(bytes: Uint8Array): number {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

async function ids(bench: Bench): Promise<void> {
  const utf8 = new TextEncoder();
  const names = Array.from({ length: IDS }, (_, i) => `evt-${String(i).padStart(32, "0")}`);
  const bytes = utf8.encode(names.join(""));
  const target = new Uint8Array(64);
  const identity = utf8.encode(messageIdentity(SCOPE, names[0]!));
  const whole = identity.length - identity.length % 64;
  const kept = sha256.create().update(identity.subarray(0, whole));
  const state = kept.clone();
  const rest = identity.subarray(whole);
  const digest = new Uint8Array(32);
  // One hash after the other: code that has seen both is slower than either is for a user of one.
  for (const own of [false, true]) {
    if (own) useNodeSha256();
    const hasher = idHasher(SCOPE);
    useOwnSha256(undefined);
    await compare(bench, { suite: "hash", case: `ids of 36 bytes${own ? ", by crypto.hash" : ""}`, unit: "ids" }, [
      {
        name: "jetrow",
        run: () => timed(IDS, () => repeat((i) => hasher.write(bytes, i * 36, i * 36 + 36, target, 0))),
      },
      {
        name: "bare hash, kept state",
        run: () => timed(IDS, () => repeat(() => kept._cloneInto(state).update(rest).digestInto(digest))),
      },
      {
        name: "sha256 of the string",
        run: () => timed(IDS, () => repeat((i) => sha256(utf8.encode(messageIdentity(SCOPE, names[i]!))))),
      },
    ]);
  }
}

function repeat(work: (index: number) => unknown): void {
  for (let i = 0; i < IDS; i++) work(i);
}
