/**
 * A scripted server that takes fast batches.
 *
 * @module
 */

import { type Answer, type Published, streamInfo } from "../_support/fake_answers.ts";
import { type FakeConnection, fakeConnection, type FakeConnectionOptions } from "../_support/fake_connection.ts";

/** A message of a batch, as its reply subject tells it. */
export interface FastMessage {
  readonly inbox: string;
  readonly id: string;
  readonly flow: number;
  readonly gap: string;
  readonly sequence: number;
  readonly operation: "start" | "append" | "commit" | "end" | "ping";
}

const OPERATIONS = ["start", "append", "commit", "end", "ping"] as const;

/** What a reply subject says. */
export function fastMessage({ reply }: Published): FastMessage {
  const parts = reply.split(".");
  const [id, flow, gap, sequence, operation] = parts.slice(-6);
  return {
    inbox: parts.slice(0, -6).join("."),
    id: id!,
    flow: Number(flow),
    gap: gap!,
    sequence: Number(sequence),
    operation: OPERATIONS[Number(operation)]!,
  };
}

/** Answers in place of a good server's; `undefined`: what that one answers; `[]`: none. */
export type FastScript = (
  message: FastMessage,
  published: Published,
  good: () => readonly Answer[],
) => Answer | readonly Answer[] | undefined;

/** A good answer that all rows so far are stored. */
export function flowAck(sequence: number, perAck: number): Answer {
  return { body: { type: "ack", seq: sequence, msgs: perAck } };
}

/** The last answer of a batch. */
export function endAck(id: string, count: number, last = count, more: Record<string, unknown> = {}): Answer {
  return { body: { stream: "ORDERS", seq: last, batch: id, count, ...more } };
}

interface Batch {
  /** Rows stored. */
  count: number;
  /** The row whose answer came last. */
  acked: number;
  /** The stream sequence of its last row. */
  last: number;
}

/** A connection to a server with a stream that takes fast batches, in gap mode `fail`. */
export function fastServer(script: FastScript = () => undefined, options: FakeConnectionOptions = {}): FakeConnection {
  const batches = new Map<string, Batch>();
  let stored = 0;
  const good = (message: FastMessage): Answer[] => {
    const { id, flow, sequence, operation } = message;
    if (operation === "start") batches.set(id, { count: 0, acked: 0, last: 0 });
    if (operation === "commit" && sequence === 1) return [endAck(id, 1, ++stored)];
    const batch = batches.get(id);
    if (batch === undefined) return [UNKNOWN_BATCH];
    if (operation === "ping" && sequence === batch.count) return [flowAck(batch.acked, flow)];
    if (operation === "ping" || sequence !== batch.count + 1) {
      batches.delete(id);
      return [{ body: { type: "gap", last_seq: batch.count + 1, seq: sequence } }, endAck(id, batch.count, batch.last)];
    }
    if (operation === "end") {
      batches.delete(id);
      return [endAck(id, batch.count, batch.last)];
    }
    batch.count++;
    batch.last = ++stored;
    const first = operation === "start" ? [flowAck(0, flow)] : [];
    if (operation === "commit") {
      batches.delete(id);
      return [endAck(id, batch.count, batch.last)];
    }
    if (batch.count < batch.acked + flow) return first;
    return [...first, flowAck(batch.acked += flow, flow)];
  };
  return fakeConnection({
    requests: ({ subject }) => streamInfo(subject.split(".").at(-1)!, { allow_batched: true }),
    answers: (published) => {
      const message = fastMessage(published);
      return script(message, published, () => good(message)) ?? good(message);
    },
    ...options,
  });
}

/** What messages of a batch that has ended are answered. */
export const UNKNOWN_BATCH: Answer = {
  body: { error: { code: 400, err_code: 10208, description: "batch publish ID unknown" }, stream: "ORDERS", seq: 0 },
};
