/**
 * A stream that answers the messages of any publish mode as a server does, and forgets ids after a time.
 *
 * @module
 */

import { type Answer, headerOf, type Published, refusal } from "../_support/fake/mod.ts";
import { batchRow } from "./_atomic_server.ts";
import { endAck, FastBatches } from "./_fast_server.ts";

/** The publish modes. */
export const MODES = ["individual", "atomic", "fast"] as const;

/** A publish mode. */
export type Mode = (typeof MODES)[number];

const FULL = refusal(503, 10077, "maximum messages exceeded");

/** A stream without limits. */
export class ModelStream {
  /** The bodies in the order of their sequences. */
  readonly bodies: string[] = [];
  readonly #mode: Mode;
  readonly #window: number;
  readonly #now: () => number;
  /** When the row of an id was stored. */
  readonly #storedAt = new Map<string, number>();
  readonly #staged = new Map<string, Published[]>();
  readonly #fast = new FastBatches((published) => this.#store(published));

  /** Creates an empty stream, which recognizes ids for `window` milliseconds of `now`. */
  constructor(mode: Mode, window = Infinity, now: () => number = () => 0) {
    this.#mode = mode;
    this.#window = window;
    this.#now = now;
  }

  /** Returns the answers to a message; with `full`, the stream has no room for rows. */
  answer(published: Published, full = false): readonly Answer[] {
    if (this.#mode === "fast") return this.#fast.answer(published, full);
    if (this.#mode === "atomic") return this.#atomic(published, full);
    if (full) return [FULL];
    const sequence = this.#store(published);
    return [{
      body: sequence > 0 ? { stream: "ORDERS", seq: sequence } : { stream: "ORDERS", seq: 1, duplicate: true },
    }];
  }

  #atomic(published: Published, full: boolean): readonly Answer[] {
    const { id, sequence, commit } = batchRow(published);
    const rows = sequence === 1 ? [] : this.#staged.get(id);
    const reply = (answer: Answer): readonly Answer[] => published.reply === "" ? [] : [answer];
    if (rows === undefined || rows.length + 1 !== sequence) return reply(refusal(400, 10176, "batch is incomplete"));
    const all = [...rows, published];
    this.#staged.set(id, all);
    if (!commit) return reply({});
    this.#staged.delete(id);
    if (full) return reply(FULL);
    if (all.some((row) => this.#knows(row))) return reply(refusal(400, 10201, "batch contains duplicate message id"));
    for (const row of all) this.#store(row);
    return reply(endAck(id, sequence, this.bodies.length));
  }

  #knows(published: Published): boolean {
    const storedAt = this.#storedAt.get(headerOf(published, "Nats-Msg-Id") ?? "");
    return storedAt !== undefined && this.#now() - storedAt < this.#window;
  }

  /** Stores a row and returns its sequence; 0 for a duplicate. */
  #store(published: Published): number {
    if (this.#knows(published)) return 0;
    const id = headerOf(published, "Nats-Msg-Id");
    if (id !== undefined) this.#storedAt.set(id, this.#now());
    return this.bodies.push(new TextDecoder().decode(published.data));
  }
}
