/**
 * What all lanes do alike: submit once a read, expire what is due, and tell when nothing is outstanding any more.
 *
 * @module
 */

import type { Failure } from "../call.ts";
import { ExpiryTimer, now } from "./deadlines.ts";
import { internalFailure, lostConnection } from "../failure.ts";
import { WireError } from "../connection/wire.ts";

/** The publisher of a lane, as far as the lane sees it. */
export interface LaneHost {
  /** Rows were acknowledged, as new ones or as duplicates. */
  acknowledged(rows: number, duplicates: number, bytes: number): void;
  /** Something failed for good. Only the first one counts. */
  failed(failure: Failure): void;
  /** After a lane was stopped: nothing is outstanding. */
  drained(): void;
  /** Rows were submitted or settled. */
  moved(): void;
}

/** What is particular to a lane. */
export interface PumpWork {
  /** Whether rows are outstanding. */
  outstanding(): boolean;
  /** When something is due, in milliseconds of {@linkcode now}; Infinity when only answers are waited for. */
  nextDue(): number;
  /** Ends what was due by a time. */
  expire(time: number): void;
  /** Submits what may go now. */
  submit(time: number): void;
}

/** Drives a lane. */
export class Pump {
  readonly #host: LaneHost;
  readonly #work: PumpWork;
  readonly #timer: ExpiryTimer;
  #woken = false;
  #stopped = false;

  /** A pump for a lane's work; it reports to the lane's host. */
  constructor(host: LaneHost, work: PumpWork) {
    this.#host = host;
    this.#work = work;
    this.#timer = new ExpiryTimer(() => work.nextDue(), (time) => this.#due(time));
  }

  /** Whether nothing more is submitted. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** There may be something to submit. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    // All answers of one read are handled before microtasks run: the submitter wakes once a read.
    queueMicrotask(() => {
      this.#woken = false;
      this.#pump();
    });
  }

  /** There may be something to submit, or, where nothing more is, nothing outstanding any more. */
  proceed(): void {
    if (this.#stopped) this.#reportDrained();
    else this.wake();
  }

  /** An answer was read. */
  noteAnswer(): void {
    this.#timer.noteProgress();
  }

  /** Sets the timer for what is due next. */
  arm(): void {
    this.#timer.arm();
  }

  /** Submits nothing more; what is outstanding is waited for. */
  stop(): void {
    this.#stopped = true;
    this.#timer.arm();
    this.#reportDrained();
  }

  /** Ends at once. */
  cut(): void {
    this.#stopped = true;
    this.#timer.stop();
  }

  /** Runs `work`, and reports what it throws: an error of the connection, or one of jetrow's own. */
  guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#host.failed(error instanceof WireError ? lostConnection(error) : internalFailure(error));
    }
  }

  #pump(): void {
    if (this.#stopped) return;
    this.guarded(() => this.#work.submit(now()));
    this.#timer.arm();
    this.#host.moved();
  }

  #due(time: number): void {
    this.guarded(() => this.#work.expire(time));
    if (this.#stopped) this.#reportDrained();
    else this.#pump();
  }

  #reportDrained(): void {
    if (!this.#work.outstanding()) queueMicrotask(() => this.#host.drained());
  }
}
