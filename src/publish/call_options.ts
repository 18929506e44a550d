/**
 * The options of a call that publishes one batch: each key known, each value read once and checked.
 *
 * @module
 */

import { applyRules, fieldsOf, type Place } from "../options/fields.ts";
import { abortSignal } from "../options/values.ts";
import type { CallOptions } from "../types/mod.ts";

/** The rules of what every call takes. */
export const CALL = { signal: { rule: abortSignal } } as const;

const TOP: Place = { field: "", spelling: "camel" };

/** The options of one batch's call. */
export function resolveCall(options: CallOptions): CallOptions {
  return applyRules(fieldsOf(plainOptions(options), Object.keys(CALL), TOP), CALL);
}

/** An AbortController has the type of options, for its signal, though it is no plain object. */
export function plainOptions(options: CallOptions): CallOptions {
  return options instanceof AbortController ? { signal: options.signal } : options;
}
