/**
 * What a publisher is doing.
 *
 * @module
 */

/**
 * What `onProgress` is told.
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
  /** Rows sent so far. */
  readonly submitted: number;
  /** Rows acknowledged so far, duplicates included. */
  readonly acked: number;
  /** Bytes of JSON acknowledged so far. */
  readonly bytes: number;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** Their bytes: header block, payload and subject. */
  readonly inFlightBytes: number;
}

/**
 * What a publisher is doing now.
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
  /** Whether the connection is up, as far as is known. */
  readonly connected: boolean;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** Their bytes: header block, payload and subject. */
  readonly inFlightBytes: number;
  /** Rows acknowledged since opening, without duplicates. */
  readonly acked: number;
  /** Rows that the streams had already. */
  readonly duplicates: number;
  /** Bytes of JSON acknowledged since opening. */
  readonly bytes: number;
  /** Calls that failed since opening. */
  readonly failures: number;
  /** How messages reach the client: whole frames handed to its protocol handler, or one `publish` a message. */
  readonly wire: "frames" | "publish";
  /** Streams that were missing and were created, in order: the last 100. */
  readonly created: readonly string[];
}
