/**
 * One fast batch: which rows have which place in it, and how far the server is. No clock, no I/O.
 *
 * Rows lie in runs: rows of one call, side by side, submitted at the same time. An acknowledgment settles whole runs or
 * the beginning of one.
 *
 * @module
 */

import { lowerBound } from "../../util/lower_bound.ts";
import type { Destination } from "../../stream/destination.ts";
import type { Call } from "../call.ts";
import type { Rejection } from "../rejection.ts";
import type { ReplyForm } from "../connection/wire.ts";

/** Rows of one call at consecutive places. */
interface Run {
  /** Their call; undefined once it no longer waits for them. */
  call: Call | undefined;
  /** Index of the first in its call. */
  index: number;
  /** Place of the first in the batch. */
  sequence: number;
  /** How many. */
  count: number;
  /** When they must be acknowledged. */
  readonly deadline: number;
}

/** Told of rows `from` to `to` (exclusive) of a call. */
export type EachRun = (call: Call, from: number, to: number) => void;

/** A batch of fast ingest. */
export class FastBatch {
  /** Its id. */
  readonly id: string;
  /** Where its rows go. */
  readonly destination: Destination;
  /** The subject of its first row, on which questions and its end are sent, too: the stream captures it. */
  readonly subject: string;
  /** Its reply subjects, by operation. */
  readonly forms: readonly ReplyForm[];
  /** After how many rows it asks for an answer; the server may send them more often. */
  readonly flow: number;
  /** The call that it is for alone; undefined where calls share it. */
  readonly own: Call | undefined;
  /** The call that all rows so far are of; undefined before the first and after another's. */
  sole: Call | undefined;
  /** Rows sent. */
  sent = 0;
  /** Rows that are settled, from the first on. */
  settled = 0;
  /** After how many rows the server answers; 0 before its first answer. */
  perAck = 0;
  /** Whether its last row or its end is sent. */
  ending = false;
  /** Whether something is wrong with it: it takes no more rows. */
  troubled = false;
  /** Rows that the server refused, by place, and why. */
  readonly refused = new Map<number, Rejection>();
  /** When it is to be asked how far it is. */
  nudgeAt = Infinity;
  /** When it is given up, whatever its rows' deadlines are. */
  lostAt = Infinity;
  /** Its place among the batches of its sender. */
  order = 0;
  /** The runs in order; those before `#head` are settled, and no call waits for those before `#firstLive`. */
  #runs: Run[] = [];
  #head = 0;
  #firstLive = 0;
  /** Rows that a call waits for. */
  #waiting = 0;
  readonly #runsOf = new Map<Call, Set<Run>>();

  /** A batch without rows. */
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

  /** Whether its first answer is still waited for. */
  get opening(): boolean {
    return this.perAck === 0;
  }

  /** Whether anybody waits for a row of it. */
  get live(): boolean {
    return this.#waiting > 0;
  }

  /** The earliest deadline of its rows; Infinity without any. */
  get deadline(): number {
    return this.#skipDead()?.deadline ?? Infinity;
  }

  /** When something must be done about it, whatever it is. */
  get due(): number {
    return Math.min(this.deadline, this.nudgeAt, this.lostAt);
  }

  /** Gives rows `index` to `index + count` (exclusive) of a call the next places. Deadlines never fall. */
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

  /** Settles all rows up to a place. */
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

  /** Takes out the rows that are not settled, those whose deadline has come or all; tells of each and its place. */
  takeOut(due: number, each: (call: Call, index: number, sequence: number) => void): void {
    for (let run = this.#skipDead(); run !== undefined && run.deadline <= due; run = this.#skipDead()) {
      const { index, sequence, count } = run;
      const call = this.#release(run)!;
      this.#waiting -= count;
      for (let i = 0; i < count; i++) each(call, index + i, sequence + i);
    }
  }

  /** A call no longer waits for its rows. */
  drop(dropped: Call, each: EachRun): void {
    for (const run of this.#runsOf.get(dropped) ?? []) {
      this.#release(run);
      this.#waiting -= run.count;
      each(dropped, run.index, run.index + run.count);
    }
  }

  /** The row at a place that is not settled. */
  rowAt(sequence: number): { readonly call: Call; readonly index: number } | undefined {
    const runs = this.#runs;
    const run = runs[lowerBound(this.#head, runs.length, (at) => runs[at]!.sequence, sequence + 1) - 1];
    if (run?.call === undefined || sequence >= run.sequence + run.count) return undefined;
    return { call: run.call, index: run.index + sequence - run.sequence };
  }

  /** The first run that a call waits for. */
  #skipDead(): Run | undefined {
    this.#firstLive = Math.max(this.#firstLive, this.#head);
    while (this.#firstLive < this.#runs.length && this.#runs[this.#firstLive]!.call === undefined) {
      this.#firstLive++;
    }
    return this.#runs[this.#firstLive];
  }

  /** Its call no longer waits for a run. Returns the call. */
  #release(run: Run): Call | undefined {
    const { call } = run;
    if (call === undefined) return undefined;
    run.call = undefined;
    const others = this.#runsOf.get(call)!;
    others.delete(run);
    if (others.size === 0) this.#runsOf.delete(call);
    return call;
  }

  /** Forgets settled runs when they are the larger half: an answer copies nothing. */
  #compact(): void {
    if (this.#head < this.#runs.length && (this.#head < 1024 || this.#head * 2 < this.#runs.length)) return;
    this.#firstLive = Math.max(0, this.#firstLive - this.#head);
    this.#runs = this.#runs.slice(this.#head);
    this.#head = 0;
  }
}
