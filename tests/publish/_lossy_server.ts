/**
 * A scripted server that stores rows of batches as a real one does, and loses messages and answers at random.
 *
 * @module
 */

import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  headerOf,
  NO_RESPONDERS,
  type Published,
  refusal,
  streamInfo,
} from "../_support/fake/mod.ts";
import { batchRow } from "./_atomic_server.ts";
import { endAck, FastBatches } from "./_fast_server.ts";

/** What goes wrong, each with a probability from 0 to 1. */
export interface Chances {
  /** A message is lost on its way; the publisher is not notified. */
  readonly lost: number;
  /** No server listens on the subject. */
  readonly noResponders: number;
  /** The server refuses a row. */
  readonly refused: number;
  /** An answer is lost. */
  readonly silent: number;
  /** The server forgets all batches. */
  readonly forgets: number;
}

/** A connection to a lossy server, and the bodies that the stream holds, in order. */
export interface LossyServer {
  readonly fake: FakeConnection;
  readonly stored: readonly string[];
}

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FULL = refusal(503, 10077, "maximum messages exceeded");

/** The stream: its bodies, and the ids that it knows. */
class Store {
  readonly bodies: string[] = [];
  readonly ids = new Set<string>();

  /** Stores a row unless it is a duplicate; returns its sequence, or 0. */
  add(published: Published): number {
    const id = headerOf(published, "Nats-Msg-Id");
    if (id !== undefined && this.ids.has(id)) return 0;
    if (id !== undefined) this.ids.add(id);
    return this.bodies.push(new TextDecoder().decode(published.data));
  }
}

/** A server for `publishMode: "fast"`. */
export function lossyFastServer(seed: number, chances: Chances): LossyServer {
  const random = numbersFrom(seed);
  const store = new Store();
  const batches = new FastBatches((published) => store.add(published));
  const answer = (published: Published): Answer[] => batches.answer(published, random() < chances.refused);
  return lossy(random, chances, store, { allow_batched: true }, () => batches.clear(), answer);
}

/** A server for `publishMode: "atomic"`. */
export function lossyAtomicServer(seed: number, chances: Chances): LossyServer {
  const random = numbersFrom(seed);
  const store = new Store();
  const batches = new Map<string, Published[]>();
  const answer = (published: Published): Answer[] => {
    const { id, sequence, commit } = batchRow(published);
    const staged = sequence === 1 ? [] : batches.get(id);
    const reply = (answer: Answer): Answer[] => published.reply === "" ? [] : [answer];
    if (staged === undefined || staged.length + 1 !== sequence) {
      batches.delete(id);
      return reply(refusal(400, 10176, "atomic publish batch is incomplete"));
    }
    batches.set(id, [...staged, published]);
    if (!commit) return reply({});
    batches.delete(id);
    if (random() < chances.refused) return reply(FULL);
    const ids = [...staged, published].map((row) => headerOf(row, "Nats-Msg-Id"));
    if (ids.some((id) => id !== undefined && store.ids.has(id))) {
      return reply(refusal(400, 10201, "atomic publish batch contains duplicate message id"));
    }
    let last = 0;
    for (const row of [...staged, published]) last = store.add(row);
    return reply(endAck(id, sequence, last));
  };
  return lossy(random, chances, store, { allow_atomic: true }, () => batches.clear(), answer);
}

function lossy(
  random: () => number,
  chances: Chances,
  store: Store,
  flags: Readonly<Record<string, boolean>>,
  forget: () => void,
  answer: (published: Published) => Answer[],
): LossyServer {
  const fake = fakeConnection({
    requests: ({ subject }) => streamInfo(subject.split(".").at(-1)!, flags),
    answers: (published) => {
      if (random() < chances.forgets) forget();
      if (random() < chances.lost) return [];
      if (random() < chances.noResponders) return published.reply === "" ? [] : [NO_RESPONDERS];
      return answer(published).filter(() => random() >= chances.silent);
    },
  });
  return { fake, stored: store.bodies };
}
