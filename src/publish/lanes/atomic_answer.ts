/**
 * Reads what a server answers to the messages of an atomic batch (ADR-50).
 *
 * @module
 */

import { firstBytes } from "../../stream/api/answer.ts";
import type { AckSource } from "../../stream/ack.ts";
import { type Ack, parseAck, parseObject } from "../ack.ts";

/** What a batch's last row is answered. */
export type CommitAnswer =
  | { readonly kind: "stored"; readonly first: number }
  | Exclude<Ack, { readonly kind: "stored" }>;

/** What a batch's first row is answered: an empty body says that it waits for the others. */
export type StageAnswer = { readonly kind: "staged" } | Exclude<Ack, { readonly kind: "stored" }>;

const ALONE = "the server took a row of a batch for itself: it knows no batches";

/** Reads the answer to a commit: the sequences of `count` rows are contiguous, and `first` is the lowest. */
export function parseCommit(
  body: Uint8Array,
  status: number,
  source: AckSource,
  id: string,
  count: number,
): CommitAnswer {
  const ack = parseAck(body, status, source);
  if (ack.kind !== "stored") return ack;
  const told = parseObject(body)!;
  if (told.batch === undefined) return { kind: "bad", reason: `${ALONE}: ${firstBytes(body)}` };
  if (told.batch !== id) return { kind: "bad", reason: `another batch, not ${id}: ${firstBytes(body)}` };
  if (told.count !== count) return { kind: "bad", reason: `not the batch's ${count} rows: ${firstBytes(body)}` };
  if (ack.duplicate || ack.sequence < count) {
    return { kind: "bad", reason: `no sequences of ${count} new rows: ${firstBytes(body)}` };
  }
  return { kind: "stored", first: ack.sequence - count + 1 };
}

/** Reads the answer to a batch's first row. */
export function parseStage(body: Uint8Array, status: number, source: AckSource): StageAnswer {
  if (body.length === 0 && status < 400) return { kind: "staged" };
  const ack = parseAck(body, status, source);
  return ack.kind === "stored" ? { kind: "bad", reason: `${ALONE}: ${firstBytes(body)}` } : ack;
}
