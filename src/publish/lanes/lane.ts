/**
 * What the lane of every publish mode does: it keeps the calls in order, submits once a read, expires what is due, and
 * reports when nothing is outstanding any more.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import type { Call, Failure } from "../call.ts";
import type { AnswerReceiver } from "../connection/inbox.ts";
import { WireError } from "../connection/wire.ts";
import { internalFailure, lostConnection } from "../failure.ts";
import { Backlog } from "./backlog.ts";
import { ExpiryTimer, now } from "./deadlines.ts";

/** The publisher of a lane, as the lane reports to it. */
export interface LaneHost {
  /** Notes that rows were acknowledged; `duplicates` of them are duplicates. */
  noteAcknowledged(rows: number, duplicates: number, bytes: number): void;
  /** Ends the publisher. Only the first failure counts. */
  fail(failure: Failure): void;
  /** Notes that nothing is outstanding any more, after {@linkcode Lane.stop}. */
  noteDrained(): void;
  /** Notes that rows were submitted or settled. */
  noteChange(): void;
}

/** Submits calls in order, and settles them. A publish mode adds how rows are submitted and what answers mean. */
export abstract class Lane implements AnswerReceiver {
  /** The publisher. */
  protected readonly host: LaneHost;
  /** What is still to be submitted. */
  protected readonly backlog: Backlog;
  readonly #timer: ExpiryTimer;
  #woken = false;
  #stopped = false;

  /** Creates a lane that reports to `host`. */
  constructor(settings: Settings, host: LaneHost) {
    this.host = host;
    this.backlog = new Backlog(settings.retry?.budget);
    this.#timer = new ExpiryTimer(() => this.nextDue(), (time) => this.#expireDue(time));
  }

  /** Rows outstanding. */
  abstract get inFlight(): number;
  /** Their bytes: header block, payload and subject. */
  abstract get inFlightBytes(): number;
  /** Rows submitted since opening. */
  abstract get submitted(): number;

  /** Whether rows that are loaded wait for room. */
  get waiting(): boolean {
    return this.backlog.waiting;
  }

  /** Whether nothing more is submitted. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Adds a call behind the others. Its rows may be loaded later. */
  push(call: Call): void {
    this.backlog.push(call);
  }

  /** Submits, soon, what may be submitted: a call's rows were loaded, or the window has room. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    // All answers of one read are handled before microtasks run: the lane submits once a read.
    queueMicrotask(() => {
      this.#woken = false;
      this.#submitNow();
    });
  }

  /** Removes a call. Its outstanding rows are unknown. */
  abstract cancel(call: Call): void;

  /** Submits nothing more. Calls {@linkcode LaneHost.noteDrained} when every outstanding row is answered. */
  stop(): void {
    this.backlog.close();
    this.windUp();
    this.#stopped = true;
    this.#timer.arm();
    this.#reportDrained();
  }

  /** Ends at once. Outstanding rows are unknown, and later answers have no effect. */
  cut(): void {
    this.backlog.close();
    this.forget();
    this.#stopped = true;
    this.#timer.stop();
  }

  /** Handles an answer below the publisher's inbox. */
  abstract reply(msg: Msg): void;
  /** Handles an answer as bytes, if the mode's answers allow it. */
  takeAnswer?(token: number, bytes: Uint8Array, start: number, end: number): boolean;

  /** Returns when something is due, in milliseconds of {@linkcode now}; Infinity if only answers are waited for. */
  protected abstract nextDue(): number;
  /** Ends what was due by a time. */
  protected abstract expire(time: number): void;
  /** Submits what may be submitted now. */
  protected abstract submit(time: number): void;
  /** Forgets what is outstanding. */
  protected abstract forget(): void;
  /** Ends what would otherwise wait for more rows: the lane is being stopped. */
  protected windUp(): void {}

  /** Wakes the lane; if it is stopped, reports the end once nothing is outstanding. */
  protected proceed(): void {
    if (this.#stopped) this.#reportDrained();
    else this.wake();
  }

  /** Notes that an answer was read. */
  protected noteAnswer(): void {
    this.#timer.noteAnswer();
  }

  /** Sets the timer for what is due next. */
  protected arm(): void {
    this.#timer.arm();
  }

  /** Runs `work`, and reports an error that it throws: of the connection, or of jetrow's own. */
  protected guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.host.fail(error instanceof WireError ? lostConnection(error) : internalFailure(error));
    }
  }

  #submitNow(): void {
    if (this.#stopped) return;
    this.guarded(() => this.submit(now()));
    this.#timer.arm();
    this.host.noteChange();
  }

  #expireDue(time: number): void {
    this.guarded(() => this.expire(time));
    if (this.#stopped) this.#reportDrained();
    else this.#submitNow();
  }

  #reportDrained(): void {
    if (this.inFlight === 0) queueMicrotask(() => this.host.noteDrained());
  }
}
