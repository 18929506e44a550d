/**
 * The options of calls that publish, one batch or a sequence: each key known, each value read once and checked.
 *
 * @module
 */

import { type PieceLimits, resolveLimits } from "../arrow/slice.ts";
import type { ApplyAllOptions, BatchLimits, CallOptions, WriteReceipt } from "../types/mod.ts";
import { durationMillis } from "../util/duration.ts";
import { applyRules, type Fields, fieldsOf, missing, type Place } from "./fields.ts";
import { abortSignal, listener } from "./values.ts";

const TOP: Place = { field: "", spelling: "camel" };

/** The rules of what every call takes. */
const CALL = { signal: { rule: abortSignal } } as const;

/** The options of one batch's call. */
export function resolveCall(options: CallOptions): CallOptions {
  return applyRules(fieldsOf(plainOptions(options), Object.keys(CALL), TOP), CALL);
}

/** An AbortController has the type of options, for its signal, although it is not a plain object. */
function plainOptions(options: CallOptions): CallOptions {
  return options instanceof AbortController ? { signal: options.signal } : options;
}

/** The options of a sequence, with its limits filled in. */
export interface SequenceSettings extends PieceLimits {
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** Told each piece's receipt. */
  readonly onReceipt?: (receipt: WriteReceipt) => void | Promise<void>;
}

const SEQUENCE = { ...CALL, onReceipt: { rule: listener<NonNullable<ApplyAllOptions["onReceipt"]>> } } as const;

const LIMITS: readonly (keyof BatchLimits)[] = ["batchMaxRows", "batchMaxBytes"];

const KEYS: readonly string[] = [...LIMITS, ...Object.keys(SEQUENCE)];

/** The options of a sequence's call. */
export function resolveSequence(options: ApplyAllOptions): SequenceSettings {
  return sequenceOf(fieldsOf(plainOptions(options), KEYS, TOP));
}

/** The limits of `publishAll`, the budget in milliseconds. */
export function resolvePublishAll(
  limits: ApplyAllOptions & { readonly budget: number | string },
): SequenceSettings & { readonly budget: number } {
  const fields = fieldsOf(limits ?? {}, ["budget", ...KEYS], TOP, "limits");
  const budget = fields.get("budget");
  if (budget === undefined) throw missing(fields.place("budget"));
  return { budget: durationMillis(budget, "budget"), ...sequenceOf(fields) };
}

function sequenceOf(fields: Fields): SequenceSettings {
  const limits = Object.fromEntries(LIMITS.map((limit) => [limit, fields.get(limit)]));
  return { ...resolveLimits(limits), ...applyRules(fields, SEQUENCE) };
}
