/**
 * What a publish mode has to do, and what it tells its publisher.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Delivery, Failure } from "../call.ts";

/** Submits calls in order, and settles their rows. */
export interface Lane {
  /** Rows outstanding. */
  readonly inFlight: number;
  /** Their bytes: header block, payload and subject. */
  readonly inFlightBytes: number;
  /** Rows submitted since opening. */
  readonly submitted: number;
  /** Whether rows that are loaded wait for room. */
  readonly waiting: boolean;
  /** Gives a call its place. */
  push(delivery: Delivery): void;
  /** A call's rows are loaded: it may be submitted when its turn comes. */
  wake(): void;
  /** Takes a call out; its outstanding rows are unknown. */
  cancel(delivery: Delivery): void;
  /** Submits nothing more; waits for what is outstanding, then calls {@linkcode LaneHost.drained}. */
  stop(): void;
  /** Ends at once: what is outstanding is unknown. Nothing that comes later has an effect. */
  cut(): void;
  /** An answer below the publisher's inbox. */
  reply(msg: Msg): void;
}

/** Who a lane tells. */
export interface LaneHost {
  /** Rows were acknowledged, as new ones or as duplicates. */
  acknowledged(rows: number, duplicates: number, bytes: number): void;
  /** Something failed for good. Only the first one counts. */
  failed(failure: Failure): void;
  /** After {@linkcode Lane.stop}: nothing is outstanding. */
  drained(): void;
  /** Rows were submitted or settled. */
  moved(): void;
}
