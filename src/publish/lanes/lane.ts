/**
 * What every publish mode's lane has: calls in order, a pump that drives it, and its end.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import type { Call } from "../call.ts";
import { type LaneHost, Pump } from "./pump.ts";
import { Backlog } from "./backlog.ts";

/** Submits calls in order, and settles their rows. A publish mode adds how rows are submitted and what answers mean. */
export abstract class Lane {
  /** The publisher, to which the lane reports. */
  protected readonly host: LaneHost;
  /** What is still to be submitted. */
  protected readonly backlog: Backlog;
  /** Calls the methods below when it is time. */
  protected readonly pump: Pump;

  /** A lane that reports to `host`. */
  constructor(settings: Settings, host: LaneHost) {
    this.host = host;
    this.backlog = new Backlog(settings.retry?.budget);
    this.pump = new Pump(host, {
      outstanding: () => this.inFlight > 0,
      nextDue: () => this.nextDue(),
      expire: (time) => this.expire(time),
      submit: (time) => this.submit(time),
    });
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

  /** Gives a call its place. */
  push(call: Call): void {
    this.backlog.push(call);
  }

  /** A call's rows are loaded: it may be submitted when its turn comes. */
  wake(): void {
    this.pump.wake();
  }

  /** Takes a call out; its outstanding rows are unknown. */
  abstract cancel(call: Call): void;

  /** Submits nothing more; waits for what is outstanding, then calls {@linkcode LaneHost.drained}. */
  stop(): void {
    this.backlog.close();
    this.windUp();
    this.pump.stop();
  }

  /** Ends at once: what is outstanding is unknown. Nothing that comes later has an effect. */
  cut(): void {
    this.backlog.close();
    this.forget();
    this.pump.cut();
  }

  /** An answer below the publisher's inbox. */
  abstract reply(msg: Msg): void;

  /** When something is due, in milliseconds of `now()`; Infinity if only answers are waited for. */
  protected abstract nextDue(): number;
  /** Ends what was due by a time. */
  protected abstract expire(time: number): void;
  /** Submits what may be submitted now. */
  protected abstract submit(time: number): void;
  /** Forgets what is outstanding. */
  protected abstract forget(): void;
  /** Ends what would otherwise wait for more rows; the lane submits none any more. */
  protected windUp(): void {}
}
