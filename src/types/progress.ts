/**
 * The state of a publisher.
 *
 * @module
 */

/**
 * The progress of a publisher, for `onProgress`.
 *
 * @example
 * ```ts
 * import type { Progress, PublisherOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const seen: Progress[] = [];
 * const options: PublisherOptions = { stream: "S", subject: "s", onProgress: (progress) => void seen.push(progress) };
 * options.onProgress?.({ submitted: 2, acked: 1, bytes: 8, inFlight: 1, inFlightBytes: 90 });
 * assert.equal(seen[0]?.submitted, seen[0]!.acked + seen[0]!.inFlight);
 * ```
 */
export interface Progress {
  /** Rows sent since opening. */
  readonly submitted: number;
  /** Rows acknowledged since opening, duplicates included. */
  readonly acked: number;
  /** Bytes of JSON acknowledged since opening. */
  readonly bytes: number;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** The bytes of these rows: header block, payload and subject. */
  readonly inFlightBytes: number;
}

/**
 * The current state of a publisher.
 *
 * @example
 * ```ts
 * import type { Publisher, PublisherStats } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const isIdle = ({ inFlight }: PublisherStats) => inFlight === 0;
 * const watch = (publisher: Publisher) => isIdle(publisher.stats());
 * assert.equal(typeof watch, "function");
 * ```
 */
export interface PublisherStats {
  /** Whether the connection is open, as far as the client knows. */
  readonly connected: boolean;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** The bytes of these rows: header block, payload and subject. */
  readonly inFlightBytes: number;
  /** Rows acknowledged since opening, without duplicates. */
  readonly acked: number;
  /** Rows that the streams already had. */
  readonly duplicates: number;
  /** Bytes of JSON acknowledged since opening. */
  readonly bytes: number;
  /** Calls that failed since opening. */
  readonly failures: number;
  /** Streams that were missing and were created, in order: the last 100. */
  readonly created: readonly string[];
}
