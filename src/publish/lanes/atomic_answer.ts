/**
 * Reads a server's answers to the messages of an atomic batch (ADR-50), and settles a batch that the server refused
 * because the stream has a message with one of its ids: it may have been committed before, and the answer lost.
 *
 * @module
 */

import { firstBytes } from "../../stream/api/answer.ts";
import type { AckSource } from "../../stream/ack.ts";
import { type Ack, parseAck, parseObject } from "../ack.ts";
import type { Call, Failure } from "../call.ts";
import type { Rejection } from "../rejection.ts";
import type { AtomicBatch } from "./atomic_batch.ts";

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

/** The server's code: the stream has a message with an id of the batch. */
export const DUPLICATE_ID = 10201;

/** Finds the rows of a call in the stream. Returns the sequence of each, 0 if it is not stored. */
export type RowFinder = (call: Call, signal: AbortSignal) => Promise<Float64Array>;

/** The result of a search: all rows are stored, some are, or it is not known. */
export type Settlement =
  | { readonly kind: "all"; readonly sequences: Float64Array }
  | { readonly kind: "some"; readonly sequences: Float64Array; readonly failure: Failure }
  | { readonly kind: "unknown"; readonly rejection: Rejection };

/** Searches the stream for the rows of a refused batch; `description` is the server's reason. */
export async function settle(batch: AtomicBatch, description: string, find: RowFinder): Promise<Settlement> {
  const { call } = batch;
  const refused = `the server refused it: ${description} (${DUPLICATE_ID})`;
  const known = { code: "publish.rejected", serverCode: DUPLICATE_ID } as const;
  try {
    const sequences = await find(call, batch.search.signal);
    const found = sequences.filter((sequence) => sequence > 0).length;
    if (found === sequences.length) return { kind: "all", sequences };
    const reason = `${refused}: the stream has ${found} of its ${call.count} rows`;
    return { kind: "some", sequences, failure: { ...known, reason, call } };
  } catch (cause) {
    const { code, message } = cause as { code?: unknown; message?: unknown };
    const reason = `${refused}, and its rows could not be searched for: ${message}`;
    if (code === "connection.permission") {
      return { kind: "unknown", rejection: { ...known, stored: "unknown", retry: "never", reason, cause } };
    }
    // Without the server's code, which would mean that a retry is useless: only the search has failed.
    return {
      kind: "unknown",
      rejection: { code: "publish.timeout", stored: "unknown", retry: "later", reason, cause },
    };
  }
}

/**
 * Notes rows that were found as duplicates, and other rows with ids as not stored. A row without an id cannot be
 * searched for: it may be stored. Returns the number and the bytes of the duplicates.
 */
export function noteFound(
  call: Call,
  sequences: Float64Array,
): { readonly rows: number; readonly bytes: number } {
  const { offsets } = call.rows;
  let rows = 0;
  let bytes = 0;
  for (let i = 0; i < call.count; i++) {
    if (sequences[i] === 0) {
      if (call.rows.hasId(i)) call.noteAbsence(i);
      else call.reject(i, "unknown");
      continue;
    }
    call.acknowledge(i, sequences[i]!, true);
    rows++;
    bytes += offsets[i + 1]! - offsets[i]!;
  }
  return { rows, bytes };
}
