/**
 * The options of functions that only ask the server.
 *
 * @module
 */

import type { SinkConfig } from "../types/mod.ts";
import { durationMillis } from "../util/duration.ts";
import { applyRules, fieldsOf } from "./fields.ts";
import { OPTION_KEYS } from "./publisher.ts";
import { domainName, inboxPrefix } from "./templates.ts";
import { abortSignal, nonEmptyString, timeout } from "./values.ts";

/**
 * What functions that only ask the server take: a whole SinkConfig will do.
 *
 * @example
 * ```ts
 * import type { ReadingOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: ReadingOptions = { domain: "hub", signal: AbortSignal.timeout(60_000) };
 * assert.equal(options.signal?.aborted, false);
 * ```
 */
export interface ReadingOptions extends Partial<SinkConfig> {
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const READING = {
  domain: { rule: domainName },
  inboxPrefix: { rule: inboxPrefix },
  signal: { rule: abortSignal },
} as const;

/** The options of a request, checked. */
export type Reading = Partial<{ readonly domain: string; readonly inboxPrefix: string; readonly signal: AbortSignal }>;

/** Checks the options and takes those that concern requests; a key that no SinkConfig has is refused. */
export function resolveReading(options: ReadingOptions): Reading {
  const fields = fieldsOf(options, [...OPTION_KEYS.camel, "signal"], { field: "", spelling: "camel" });
  return applyRules<Required<Reading>>(fields, READING);
}

/**
 * What `inspect` checks, and how long it waits.
 *
 * @example
 * ```ts
 * import type { InspectOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: InspectOptions = { resource: "eu", timeout: 2000, signal: new AbortController().signal };
 * assert.equal(options.timeout, 2000);
 * ```
 */
export interface InspectOptions {
  /** A destination resource: checks its own subject, and its stream if the name depends on it. */
  readonly resource?: string;
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * How long to wait for each answer: milliseconds, or a Go duration string.
   *
   * @default {"5s"}
   */
  readonly timeout?: number | string;
}

const INSPECTION = {
  resource: { rule: nonEmptyString },
  signal: { rule: abortSignal },
  timeout: { rule: timeout },
} as const;

/** An inspection's options, checked. */
export type Inspection = Partial<{ readonly resource: string; readonly signal: AbortSignal; readonly timeout: number }>;

/** Checks the options of an inspection. */
export function resolveInspection(options: InspectOptions): Inspection {
  const { timeout: wait, ...rest } = applyRules<{ resource: string; signal: AbortSignal; timeout: number | string }>(
    fieldsOf(options, Object.keys(INSPECTION), { field: "", spelling: "camel" }),
    INSPECTION,
  );
  return { ...rest, ...(wait === undefined ? {} : { timeout: durationMillis(wait, "timeout") }) };
}
