/**
 * A scripted server that accepts fast batches.
 *
 * @module
 */

import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  type FakeConnectionOptions,
  type Published,
  refusal,
  streamInfo,
} from "../_support/fake/mod.ts";

/** A message of a batch, read from its reply subject. */
export interface FastMessage {
  readonly inbox: string;
  readonly id: string;
  readonly flow: number;
  readonly gap: string;
  readonly sequence: number;
  readonly operation: "start" | "append" | "commit" | "end" | "ping";
}

const OPERATIONS = ["start", "append", "commit", "end", "ping"] as const;

/** Reads a reply subject. */
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

/** The operations and indices of all messages of batches so far, in order. */
export function operationsOf({ published }: FakeConnection): string {
  return published.map(fastMessage).map(({ operation, sequence }) => `${operation} ${sequence}`).join(", ");
}

/** Answers in place of a real server's; `undefined`: the real server's answer; `[]`: none. */
export type FastScript = (
  message: FastMessage,
  published: Published,
  good: () => readonly Answer[],
) => Answer | readonly Answer[] | undefined;

/** An answer that all rows so far are stored. */
export function flowAck(sequence: number, perAck: number): Answer {
  return { body: { type: "ack", seq: sequence, msgs: perAck } };
}

/** The last answer of a batch. */
export function endAck(id: string, count: number, last = count, more: Record<string, unknown> = {}): Answer {
  return { body: { stream: "ORDERS", seq: last, batch: id, count, ...more } };
}

/** The answer to messages of a batch that has ended. */
export const UNKNOWN_BATCH: Answer = refusal(400, 10208, "batch publish ID unknown");

const FULL = { code: 503, err_code: 10077, description: "maximum messages exceeded" };

interface Batch {
  /** Rows stored. */
  count: number;
  /** The last row that was answered. */
  acked: number;
  /** The stream sequence of its last row. */
  last: number;
}

/** Batches as a server keeps them, in gap mode `fail`. */
export class FastBatches {
  readonly #batches = new Map<string, Batch>();
  readonly #store: (published: Published) => number;

  /** Starts without batches; `store` stores a row and returns its stream sequence, 0 for a duplicate. */
  constructor(store: (published: Published) => number) {
    this.#store = store;
  }

  /** Forgets all batches. */
  clear(): void {
    this.#batches.clear();
  }

  /** The answers to a message; with `full`, the stream has no room for a row. */
  answer(published: Published, full = false): Answer[] {
    const { id, flow, sequence, operation } = fastMessage(published);
    const error = { body: { error: FULL, stream: "ORDERS", seq: 0 } };
    if (operation === "commit" && sequence === 1) return full ? [error] : [endAck(id, 1, this.#store(published))];
    if (operation === "start") {
      if (full) return [flowAck(0, flow), error];
      this.#batches.set(id, { count: 0, acked: 0, last: 0 });
    }
    const batch = this.#batches.get(id);
    if (batch === undefined) return [UNKNOWN_BATCH];
    if (operation === "ping" && sequence === batch.count) return [flowAck(batch.acked, flow)];
    if (operation === "ping" || sequence !== batch.count + 1) {
      return [{ body: { type: "gap", last_seq: batch.count + 1, seq: sequence } }, this.#end(id, batch)];
    }
    if (operation === "end") return [this.#end(id, batch)];
    if (full) return [{ body: { type: "err", seq: sequence, error: FULL } }, this.#end(id, batch)];
    batch.count++;
    batch.last = this.#store(published) || batch.last;
    if (operation === "commit") return [this.#end(id, batch)];
    const first = operation === "start" ? [flowAck(0, flow)] : [];
    if (batch.count < batch.acked + flow) return first;
    return [...first, flowAck(batch.acked += flow, flow)];
  }

  #end(id: string, { count, last }: Batch): Answer {
    this.#batches.delete(id);
    return endAck(id, count, last);
  }
}

/** A connection to a server with a stream that accepts fast batches. */
export function fastServer(script: FastScript = () => undefined, options: FakeConnectionOptions = {}): FakeConnection {
  let stored = 0;
  const batches = new FastBatches(() => ++stored);
  return fakeConnection({
    requests: ({ subject }) => streamInfo(subject.split(".").at(-1)!, { allow_batched: true }),
    answers: (published) => {
      const good = () => batches.answer(published);
      return script(fastMessage(published), published, good) ?? good();
    },
    ...options,
  });
}
