/**
 * The options of `inspect`.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import { applyRules, fieldsOf } from "../options/fields.ts";
import { abortSignal, nonEmptyString, timeout } from "../options/values.ts";
import type { ApiOptions } from "./api/request.ts";

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

const TABLE = {
  resource: { rule: nonEmptyString },
  signal: { rule: abortSignal },
  timeout: { rule: timeout },
} as const;

/** An inspection's options, checked. */
export type Inspection = Pick<ApiOptions, "signal" | "timeout"> & { readonly resource?: string };

/** Checks the options of an inspection. */
export function resolveInspection(options: InspectOptions): Inspection {
  const { timeout: wait, ...rest } = applyRules<{ resource: string; signal: AbortSignal; timeout: number | string }>(
    fieldsOf(options, Object.keys(TABLE), { field: "", spelling: "camel" }),
    TABLE,
  );
  return { ...rest, ...(wait === undefined ? {} : { timeout: durationMillis(wait, "timeout") }) };
}
