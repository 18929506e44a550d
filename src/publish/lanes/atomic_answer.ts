/**
 * Reads a server's answers to the messages of an atomic batch (ADR-50).
 *
 * @module
 */

import { firstBytes } from "../../stream/api/answer.ts";
import type { AckSource } from "../../stream/ack.ts";
import { type Ack, parseAck, parseObject } from "../ack.ts";

/** The answer to a batch's last row, which commits the batch. */
export type CommitAnswer =
  | { readonly kind: "stored"; readonly first: number }
  | Exclude<Ack, { readonly kind: "stored" }>;

/** The answer to a batch's first row. An empty body means that the row is staged: it waits for the others. */
export type StageAnswer = { readonly kind: "staged" } | Exclude<Ack, { readonly kind: "stored" }>;

const ALONE = "the server stored a row of a batch by itself: it does not know batches";

/** Reads the answer to a commit. The sequences of the `count` rows are contiguous, and `first` is the lowest. */
export function parseCommit(
  body: Uint8Array,
  status: number,
  source: AckSource,
  id: string,
  count: number,
): CommitAnswer {
  const ack = parseAck(body, status, source);
  if (ack.kind !== "stored") return ack;
  const commit = parseObject(body)!;
  if (commit.batch === undefined) return { kind: "bad", reason: `${ALONE}: ${firstBytes(body)}` };
  if (commit.batch !== id) return { kind: "bad", reason: `another batch, not ${id}: ${firstBytes(body)}` };
  if (commit.count !== count) return { kind: "bad", reason: `not the batch's ${count} rows: ${firstBytes(body)}` };
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
