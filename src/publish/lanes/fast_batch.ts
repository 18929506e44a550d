/**
 * One fast batch: which rows have which sequence in it, and which are settled. No clock, no I/O.
 *
 * Rows are kept in runs: consecutive rows of one call that were submitted at the same time. An acknowledgment settles
 * whole runs or the beginning of one.
 *
 * @module
 */

import { lowerBound } from "../../util/lower_bound.ts";
import type { Destination } from "../../stream/destination.ts";
import type { Call } from "../call.ts";
import type { Rejection } from "../rejection.ts";
import type { ReplyForm } from "../connection/wire.ts";

/** Consecutive rows of one call. */
interface Run {
  /** Their call; undefined once the call no longer waits for them. */
  call: Call | undefined;
  /** The index of the first row in its call. */
  index: number;
  /** The sequence of the first row in the batch. */
  sequence: number;
  /** How many rows. */
  count: number;
  /** When they must be acknowledged. */
  readonly deadline: number;
}

/** Called with rows `from` to `to` (exclusive) of a call. */
export type EachRun = (call: Call, from: number, to: number) => void;

/** A batch of fast ingest. */
export class FastBatch {
  /** Its id. */
  readonly id: string;
  /** Where its rows go. */
  readonly destination: Destination;
  /** The subject of its first row: the stream captures it. Messages without a row are sent to it too. */
  readonly subject: string;
  /** The forms of its reply subjects, by operation. */
  readonly forms: readonly ReplyForm[];
  /** How many rows it requests an answer for; the server may answer more often. */
  readonly flow: number;
  /** The only call whose rows may join; undefined if calls share the batch. */
  readonly own: Call | undefined;
  /** The call of all rows so far; undefined without rows, or if they belong to several calls. */
  sole: Call | undefined;
  /** Rows sent. */
  sent = 0;
  /** Rows that are settled: the first ones. */
  settled = 0;
  /** After how many rows the server answers; 0 before its first answer. */
  perAck = 0;
  /** Whether its last row or its end is sent. */
  ending = false;
  /** Whether rows were lost, refused or not answered: no more rows join. */
  failing = false;
  /** The rows that the server refused, by sequence. */
  readonly refused = new Map<number, Rejection>();
  /** When its progress or its end is requested next. */
  requestAt = Infinity;
  /** When it is abandoned, whatever its rows' deadlines are. */
  abandonedAt = Infinity;
  /** Its position among the batches of its sender. */
  order = 0;
  /** The runs in order. Those before `#head` are settled; no call waits for those before `#firstLive`. */
  #runs: Run[] = [];
  #head = 0;
  #firstLive = 0;
  /** Rows that a call waits for. */
  #waiting = 0;
  readonly #runsOf = new Map<Call, Set<Run>>();

  /** Creates a batch without rows. */
  constructor(
    id: string,
    destination: Destination,
    subject: string,
    forms: readonly ReplyForm[],
    flow: number,
    own: Call | undefined,
  ) {
    this.id = id;
    this.destination = destination;
    this.subject = subject;
    this.forms = forms;
    this.flow = flow;
    this.own = own;
  }

  /** Whether its first answer is outstanding. */
  get opening(): boolean {
    return this.perAck === 0;
  }

  /** Whether a call waits for a row of it. */
  get live(): boolean {
    return this.#waiting > 0;
  }

  /** The earliest deadline of its rows; Infinity without any. */
  get deadline(): number {
    return this.#skipDead()?.deadline ?? Infinity;
  }

  /** The earliest time at which it expires, is abandoned or is asked for progress. */
  get due(): number {
    return Math.min(this.deadline, this.requestAt, this.abandonedAt);
  }

  /** Adds `count` rows of a call, from `index` on. Deadlines never fall from call to call. */
  add(call: Call, index: number, count: number, deadline: number): void {
    if (this.sent === 0) this.sole = call;
    else if (this.sole !== call) this.sole = undefined;
    const sequence = this.sent + 1;
    this.sent += count;
    this.#waiting += count;
    const last = this.#runs.length > this.#head ? this.#runs.at(-1) : undefined;
    if (last?.call === call && last.deadline === deadline && last.index + last.count === index) {
      last.count += count;
      return;
    }
    const run: Run = { call, index, sequence, count, deadline };
    this.#runs.push(run);
    const others = this.#runsOf.get(call);
    if (others === undefined) this.#runsOf.set(call, new Set([run]));
    else others.add(run);
  }

  /** Settles all rows up to a sequence. */
  settle(upTo: number, each: EachRun): void {
    this.settled = Math.max(this.settled, upTo);
    for (let run = this.#runs[this.#head]; run !== undefined; run = this.#runs[this.#head]) {
      const rows = Math.min(run.count, upTo - run.sequence + 1);
      if (rows <= 0) break;
      const { call, index } = run;
      run.index += rows;
      run.sequence += rows;
      run.count -= rows;
      if (run.count === 0) {
        this.#head++;
        this.#release(run);
      }
      if (call === undefined) continue;
      this.#waiting -= rows;
      each(call, index, index + rows);
    }
    this.#compact();
  }

  /** Removes the rows that are not settled and whose deadline is `due` at the latest. Calls `each` with each row and its sequence. */
  takeOut(due: number, each: (call: Call, index: number, sequence: number) => void): void {
    for (let run = this.#skipDead(); run !== undefined && run.deadline <= due; run = this.#skipDead()) {
      const { index, sequence, count } = run;
      const call = this.#release(run)!;
      this.#waiting -= count;
      for (let i = 0; i < count; i++) each(call, index + i, sequence + i);
    }
  }

  /** Removes the rows of a call that are not settled. */
  drop(dropped: Call, each: EachRun): void {
    for (const run of this.#runsOf.get(dropped) ?? []) {
      this.#release(run);
      this.#waiting -= run.count;
      each(dropped, run.index, run.index + run.count);
    }
  }

  /** Returns the row of a sequence, if it is not settled and a call waits for it. */
  rowAt(sequence: number): { readonly call: Call; readonly index: number } | undefined {
    const runs = this.#runs;
    const run = runs[lowerBound(this.#head, runs.length, (at) => runs[at]!.sequence, sequence + 1) - 1];
    if (run?.call === undefined || sequence >= run.sequence + run.count) return undefined;
    return { call: run.call, index: run.index + sequence - run.sequence };
  }

  /** Returns the first run that a call waits for. */
  #skipDead(): Run | undefined {
    this.#firstLive = Math.max(this.#firstLive, this.#head);
    while (this.#firstLive < this.#runs.length && this.#runs[this.#firstLive]!.call === undefined) {
      this.#firstLive++;
    }
    return this.#runs[this.#firstLive];
  }

  /** Notes that a run's call no longer waits for it. Returns the call. */
  #release(run: Run): Call | undefined {
    const { call } = run;
    if (call === undefined) return undefined;
    run.call = undefined;
    const others = this.#runsOf.get(call)!;
    others.delete(run);
    if (others.size === 0) this.#runsOf.delete(call);
    return call;
  }

  /** Drops settled runs only once they are more than half, so that an answer copies nothing. */
  #compact(): void {
    if (this.#head < this.#runs.length && (this.#head < 1024 || this.#head * 2 < this.#runs.length)) return;
    this.#firstLive = Math.max(0, this.#firstLive - this.#head);
    this.#runs = this.#runs.slice(this.#head);
    this.#head = 0;
  }
}
