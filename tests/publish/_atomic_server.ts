/**
 * A scripted server that accepts atomic batches.
 *
 * @module
 */

import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  type FakeConnectionOptions,
  headerOf,
  type Published,
  streamInfo,
} from "../_support/fake/mod.ts";

/** A row of a batch, read from its headers. */
export interface BatchRow {
  readonly id: string;
  readonly sequence: number;
  readonly commit: boolean;
}

/** The batch headers of a message. */
export function batchRow(published: Published): BatchRow {
  return {
    id: headerOf(published, "Nats-Batch-Id") ?? "",
    sequence: Number(headerOf(published, "Nats-Batch-Sequence")),
    commit: headerOf(published, "Nats-Batch-Commit") === "1",
  };
}

/** Answers a message; `undefined`: the answer of a real server; `null`: no answer. */
export type BatchScript = (row: BatchRow, published: Published) => Answer | null | undefined;

/** The answer of a real server to a commit whose row is the `last`th stored message. */
export function committed({ id, sequence }: BatchRow, last: number, more: Record<string, unknown> = {}): Answer {
  return { body: { stream: "ORDERS", seq: last, batch: id, count: sequence, ...more } };
}

/** A connection to a server with a stream that accepts atomic batches. */
export function atomicServer(
  script: BatchScript = () => undefined,
  options: FakeConnectionOptions = {},
): FakeConnection {
  let last = 0;
  return fakeConnection({
    requests: ({ subject }) => streamInfo(subject.split(".").at(-1)!, { allow_atomic: true }),
    answers: (published) => {
      const row = batchRow(published);
      const scripted = script(row, published);
      if (scripted === null) return undefined;
      if (scripted !== undefined) return scripted;
      if (row.commit) return committed(row, last += row.sequence);
      return published.reply === "" ? undefined : {};
    },
    ...options,
  });
}
