/**
 * How `inspect` asks.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import { applyRules, fieldsOf } from "../options/fields.ts";
import { abortSignal, timeout } from "../options/values.ts";
import type { ApiOptions } from "./api/request.ts";

/**
 * How long is asked.
 *
 * @example
 * ```ts
 * import type { InspectOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: InspectOptions = { timeout: 2000, signal: new AbortController().signal };
 * assert.equal(options.timeout, 2000);
 * ```
 */
export interface InspectOptions {
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * How long to wait for each answer: milliseconds, or a Go duration text.
   *
   * @default {"5s"}
   */
  readonly timeout?: number | string;
}

const TABLE = { signal: { rule: abortSignal }, timeout: { rule: timeout } } as const;

/** Checks the options; another key is refused. */
export function resolveInspection(options: InspectOptions): Pick<ApiOptions, "signal" | "timeout"> {
  const { timeout: wait, ...rest } = applyRules<{ signal: AbortSignal; timeout: number | string }>(
    fieldsOf(options, Object.keys(TABLE), { field: "", spelling: "camel" }),
    TABLE,
  );
  return { ...rest, ...(wait === undefined ? {} : { timeout: durationMillis(wait, "timeout") }) };
}
