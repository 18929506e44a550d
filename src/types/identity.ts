/**
 * References of epochs and the scope of message ids.
 *
 * @module
 */

/**
 * An epoch of a session's attempt.
 *
 * @example
 * ```ts
 * import type { EpochRef } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const first: EpochRef = { attempt: "attempt-1", epoch: 1 };
 * const next: EpochRef = { ...first, epoch: first.epoch + 1 };
 * assert.equal(next.epoch, 2);
 * ```
 */
export interface EpochRef {
  /** The attempt that the session was opened for. */
  readonly attempt: string;
  /** A positive whole number. */
  readonly epoch: number;
}

/**
 * The parts of a message id other than the event id.
 *
 * @example
 * ```ts
 * import { type IdScope, messageIdentity } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const scope: IdScope = { tenant: "", pipeline: "", sinkConnection: "", stream: "S", subject: "s", resource: "r" };
 * assert.ok(messageIdentity(scope, "evt-1").endsWith('"S","s","r","evt-1"]'));
 * ```
 */
export interface IdScope {
  /** The tenant's name. */
  readonly tenant: string;
  /** The pipeline's name. */
  readonly pipeline: string;
  /** The name of the configured sink. */
  readonly sinkConnection: string;
  /** The stream. */
  readonly stream: string;
  /** The concrete publish subject. */
  readonly subject: string;
  /** The destination resource. */
  readonly resource: string;
}
