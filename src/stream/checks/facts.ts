/**
 * What the checks of a destination judge: plain values, gathered elsewhere.
 *
 * @module
 */

import type { JetStreamAccountStats, StreamInfo } from "@nats-io/jetstream";
import type { PublishMode } from "../../types/mod.ts";
import type { ApiFailure } from "../api/answer.ts";

/** The settings that decide what a stream must be able to do. */
export interface FactSettings {
  /** Whether a missing stream is created. */
  readonly createStream: boolean;
  /** How rows are delivered. */
  readonly publishMode: PublishMode;
  /** Milliseconds from a row's submission to its acknowledgment. */
  readonly publishTimeout: number;
  /** The time to live as it is sent, where one is set. */
  readonly ttl?: string | undefined;
  /** The time to live in milliseconds; absent for `never`. */
  readonly ttlMs?: number | undefined;
  /** The retry budget in milliseconds, if there is one. */
  readonly retry?: { readonly budget: number } | undefined;
}

/** What is known of the connected server. */
export interface ServerFacts {
  /** The server's version. */
  readonly version: string;
  /** The JetStream API level; servers below 2.12 do not tell. */
  readonly apiLevel?: number | undefined;
  /** The largest message of this connection: header block and payload, in bytes. */
  readonly maxPayload: number;
}

/** What is known of a destination. */
export interface DestinationFacts {
  /** The stream's name. */
  readonly stream: string;
  /** The stream as STREAM.INFO has it; undefined where the lookup failed. */
  readonly info: StreamInfo | undefined;
  /** The failure of the lookup; absent: there is no such stream. */
  readonly failure?: ApiFailure["error"] | undefined;
  /** The publish subject, with `*` for each token that holds the placeholder. */
  readonly pattern: string;
  /** The filter that a created stream would get, where creating it is to be judged too. */
  readonly filter?: string | undefined;
  /** Whether several resources share the stream, each with a subject of its own. */
  readonly sharedByResources: boolean;
  /** The settings. */
  readonly settings: FactSettings;
  /** The connected server. */
  readonly server: ServerFacts;
  /**
   * Bytes of the largest message known: header block, payload and subject. Absent: the smallest possible row is taken.
   */
  readonly largestMessage?: number | undefined;
  /** The account, where it may be read. */
  readonly account?: JetStreamAccountStats | undefined;
}

/** A check that needs the stream. */
export interface StreamFacts extends DestinationFacts {
  /** The stream. */
  readonly info: StreamInfo;
}

/** The lowest server that has a feature. */
export interface ServerRelease {
  /** The server's version. */
  readonly version: string;
  /** The JetStream API level, which decides if the server reports its own. */
  readonly level: number;
}

/** Whether a server version is at least another; false for what is not a version. */
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
 * Version and API level of the server that hosts the stream, where it tells (2.11), else of the connected one: a leaf
 * node or another node of the cluster may be older or newer.
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

/** Whether a server has a feature that came with `lowest`. A version that is not a number is judged by its API level. */
export function hasFeature(
  host: { readonly version: string; readonly level: number | undefined },
  lowest: ServerRelease,
): boolean {
  const { version, level } = lowest;
  if (host.level !== undefined && host.level < level) return false;
  return numbersOf(host.version) === undefined ? host.level !== undefined : atLeast(host.version, version);
}

/** Milliseconds of a duration as streams and consumers have it. */
export function millisOf(nanoseconds: number | undefined): number {
  return (nanoseconds ?? 0) / 1e6;
}

/** A duration for people, from milliseconds. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const hours = Math.floor(milliseconds / 3_600_000);
  const minutes = Math.floor(milliseconds % 3_600_000 / 60_000);
  const seconds = milliseconds % 60_000 / 1000;
  return `${hours ? `${hours}h` : ""}${minutes ? `${minutes}m` : ""}${seconds ? `${seconds}s` : ""}`;
}
