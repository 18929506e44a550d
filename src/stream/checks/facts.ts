/**
 * The facts that the checks of a destination read: plain values, collected elsewhere.
 *
 * @module
 */

import type { JetStreamAccountStats, StreamInfo } from "@nats-io/jetstream";
import type { PublishMode } from "../../types/mod.ts";
import type { ApiFailure } from "../api/answer.ts";

/** The settings that decide what a stream must support. */
export interface FactSettings {
  /** The template of the subject. */
  readonly subject: string;
  /** Whether a missing stream is created. */
  readonly createStream: boolean;
  /** How rows are delivered. */
  readonly publishMode: PublishMode;
  /** Milliseconds from a row's submission to its acknowledgment. */
  readonly publishTimeout: number;
  /** The time to live as it is sent, if one is set. */
  readonly ttl?: string | undefined;
  /** The time to live in milliseconds; absent for `never`. */
  readonly ttlMs?: number | undefined;
  /** The retry budget in milliseconds, if there is one. */
  readonly retry?: { readonly budget: number } | undefined;
}

/** The facts about the connected server. */
export interface ServerFacts {
  /** The server's version. */
  readonly version: string;
  /** The JetStream API level; absent for servers below 2.12. */
  readonly apiLevel?: number | undefined;
  /** The largest message of this connection: header block and payload, in bytes. */
  readonly maxPayload: number;
}

/** The facts about a destination. */
export interface DestinationFacts {
  /** The stream's name. */
  readonly stream: string;
  /** The stream's STREAM.INFO; undefined if the lookup failed. */
  readonly info: StreamInfo | undefined;
  /** The failure of the lookup; absent if the stream does not exist. */
  readonly failure?: ApiFailure["error"] | undefined;
  /** The publish subject, with `*` for each token that holds the placeholder. */
  readonly pattern: string;
  /** The filter of a stream that would be created, if creation is to be checked. */
  readonly filter?: string | undefined;
  /** Whether several resources share the stream, each with its own subject. */
  readonly sharedByResources: boolean;
  /** The settings. */
  readonly settings: FactSettings;
  /** The connected server. */
  readonly server: ServerFacts;
  /**
   * The size of the largest known message: header block, payload and subject. Absent: that of the smallest possible row.
   */
  readonly largestMessage?: number | undefined;
  /** The account, if it may be read. */
  readonly account?: JetStreamAccountStats | undefined;
}

/** A check that needs the stream. */
export interface StreamFacts extends DestinationFacts {
  /** The stream. */
  readonly info: StreamInfo;
}

/** The lowest server version that has a feature. */
export interface ServerRelease {
  /** The server's version. */
  readonly version: string;
  /** The JetStream API level, which decides if the server reports its own. */
  readonly level: number;
}

/** Returns whether a server version is at least another; false for a string that is not a version. */
export function atLeast(version: string, minimum: string): boolean {
  const have = numbersOf(version);
  const need = numbersOf(minimum) ?? [];
  if (have === undefined) return false;
  for (const [i, wanted] of need.entries()) {
    const number = have[i] ?? 0;
    if (number !== wanted) return number > wanted;
  }
  return true;
}

function numbersOf(version: string): number[] | undefined {
  return /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
}

/**
 * Returns version and API level of the server that hosts the stream, if the stream names them (2.11), otherwise of the
 * connected one: a leaf node or another node of the cluster may be older or newer.
 */
export function hostOf(
  config: { readonly metadata?: Readonly<Record<string, string>> } | undefined,
  server: ServerFacts,
): { readonly version: string; readonly level: number | undefined } {
  const version = config?.metadata?.["_nats.ver"];
  if (version === undefined) return { version: server.version, level: server.apiLevel };
  const level = Number(config?.metadata?.["_nats.level"] ?? NaN);
  return { version, level: Number.isInteger(level) ? level : undefined };
}

/** Returns whether a server has a feature of `lowest`. A version that is not a number is compared by its API level. */
export function hasFeature(
  host: { readonly version: string; readonly level: number | undefined },
  lowest: ServerRelease,
): boolean {
  const { version, level } = lowest;
  if (host.level !== undefined && host.level < level) return false;
  return numbersOf(host.version) === undefined ? host.level !== undefined : atLeast(host.version, version);
}

/** Returns the milliseconds of a duration of streams and consumers. */
export function millisOf(nanoseconds: number | undefined): number {
  return (nanoseconds ?? 0) / 1e6;
}

/** Formats a duration in milliseconds for people. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const hours = Math.floor(milliseconds / 3_600_000);
  const minutes = Math.floor(milliseconds % 3_600_000 / 60_000);
  const seconds = milliseconds % 60_000 / 1000;
  return `${hours ? `${hours}h` : ""}${minutes ? `${minutes}m` : ""}${seconds ? `${seconds}s` : ""}`;
}
