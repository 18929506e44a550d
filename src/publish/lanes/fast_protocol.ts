/**
 * The protocol of fast ingest (ADR-50, part 2): what a reply subject tells the server, and what the server answers.
 *
 * A batch's control data is in its reply subjects, `<inbox><id>.<flow>.fail.<sequence>.<operation>.$FI`. The server
 * answers on the reply subject of some message of the batch; it refuses a message on that message's own.
 *
 * @module
 */

import { firstBytes } from "../../stream/api/answer.ts";
import type { AckSource } from "../../stream/ack.ts";
import { type Ack, type JsonObject, parseAck, parseObject } from "../ack.ts";
import type { ReplyForm } from "../connection/wire.ts";

/** Operations: begin a batch, add a row, add the last row, end without a row, report the progress. */
export const START = 0;
export const APPEND = 1;
export const COMMIT = 2;
export const END = 3;
export const PING = 4;

/** The most bytes of a reply subject after the inbox. */
export const FAST_REPLY_BYTES = "abcdefghijkl.65536.fail.1234567890123456.0.$FI".length;

/**
 * Returns the forms of a batch's reply subjects, by operation. Gap mode `fail` ends the batch at the first lost row.
 */
export function replyForms(inbox: string, id: string, flow: number): readonly ReplyForm[] {
  const text = new TextEncoder();
  const before = text.encode(`${inbox}${id}.${flow}.fail.`);
  return [START, APPEND, COMMIT, END, PING].map((operation) => ({ before, after: text.encode(`.${operation}.$FI`) }));
}

/** The message that a reply subject belongs to. */
export interface FastReply {
  /** The batch's id. */
  readonly id: string;
  /** The message's sequence in the batch, from 1. */
  readonly sequence: number;
  /** The operation that it requested. */
  readonly operation: number;
}

/** Reads a reply subject below the inbox. Returns undefined for any other subject. */
export function parseReply(subject: string, prefixLength: number): FastReply | undefined {
  const parts = /^([^.]+)\.\d+\.fail\.(\d{1,16})\.([0-4])\.\$FI$/.exec(subject.slice(prefixLength));
  if (parts === null) return undefined;
  return { id: parts[1]!, sequence: Number(parts[2]), operation: Number(parts[3]) };
}

/** An answer. */
export type FastAnswer =
  /** All rows up to `sequence` are stored, and the next answer comes after `perAck` more. */
  | { readonly kind: "flow"; readonly sequence: number; readonly perAck: number }
  /** Rows were lost on the way to the server. */
  | { readonly kind: "gap" }
  /** One row was refused. */
  | { readonly kind: "row_refused"; readonly sequence: number; readonly refusal: Refusal }
  /** The batch has ended: `count` rows are stored, the last new one with this stream sequence; 0 if none was new. */
  | { readonly kind: "ended"; readonly count: number; readonly lastSequence: number }
  | Exclude<Ack, { readonly kind: "stored" }>;

/** A refusal. */
export type Refusal = Extract<Ack, { readonly kind: "refused" }>;

/**
 * Reads an answer to a message of a batch; `status` is the status of its header block, such as 503, or 0 without one.
 */
export function parseFast(body: Uint8Array, status: number, source: AckSource, id: string): FastAnswer {
  const reply = status === 0 ? parseObject(body) : undefined;
  if (reply?.type !== undefined) return typedAnswer(reply, body, source);
  const stored = reply !== undefined && reply.seq === 0 && (reply.error ?? undefined) === undefined;
  // A batch that stored nothing ends with sequence 0, which no other acknowledgment has.
  const ack = parseAck(stored ? withSequence(reply) : body, status, source);
  if (ack.kind !== "stored") return ack;
  if (reply?.batch === undefined) {
    return {
      kind: "bad",
      reason: `the server stored a row of a batch by itself: it does not know batches: ${firstBytes(body)}`,
    };
  }
  if (reply.batch !== id) return { kind: "bad", reason: `another batch, not ${id}: ${firstBytes(body)}` };
  if (!isCount(reply.count)) return { kind: "bad", reason: `no count of rows: ${firstBytes(body)}` };
  return { kind: "ended", count: reply.count, lastSequence: stored || ack.duplicate ? 0 : ack.sequence };
}

function typedAnswer(reply: JsonObject, body: Uint8Array, source: AckSource): FastAnswer {
  const { type, seq, msgs } = reply;
  if (type === "ack" && isCount(seq) && isCount(msgs) && msgs > 0) return { kind: "flow", sequence: seq, perAck: msgs };
  if (type === "gap") return { kind: "gap" };
  if (type === "err" && isCount(seq) && seq > 0) {
    const refusal = parseAck(new TextEncoder().encode(JSON.stringify({ error: reply.error })), 0, source);
    if (refusal.kind === "refused") return { kind: "row_refused", sequence: seq, refusal };
  }
  return { kind: "bad", reason: `no answer of a batch: ${firstBytes(body)}` };
}

function withSequence(reply: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ ...reply, seq: 1 }));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
