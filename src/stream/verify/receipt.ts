/**
 * Checks receipts that the caller passes back, for example from a JSON file.
 *
 * @module
 */

import { describe } from "../../util/describe.ts";
import { ConfigError, StateError } from "../../errors/mod.ts";
import { streamNameFault } from "../../subject/name.ts";

/** The parts of a receipt that verifying needs. */
export interface CheckedReceipt {
  /** The stream. */
  readonly stream: string;
  /** The number of acknowledged rows. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C of the bodies, one after another. */
  readonly crc32c: number;
  /** The stream sequences in row order. */
  readonly sequences: readonly (readonly [first: number, last: number])[];
}

/**
 * Returns the parts of a receipt that verifying needs. Throws a {@linkcode ConfigError} that names the malformed field,
 * and a {@linkcode StateError} if the server did not report the rows' sequences (`publishMode: "fast"`).
 */
export function checkReceipt(receipt: unknown): CheckedReceipt {
  if (typeof receipt !== "object" || receipt === null || Array.isArray(receipt)) {
    throw malformed("receipt", "must be an object", receipt);
  }
  const fields = receipt as Record<string, unknown>;
  const stream = streamOf(fields.stream);
  const rows = whole("rows", fields.rows, Number.MAX_SAFE_INTEGER);
  const bytes = whole("bytes", fields.bytes, Number.MAX_SAFE_INTEGER);
  const crc32c = numeric("crc32c", fields.crc32c);
  if (fields.sequences === undefined && rows > 0) {
    throw new StateError(
      "state.unverifiable",
      `Cannot verify a receipt of ${stream}: it has no sequences, which the server does not tell in publishMode fast`,
    );
  }
  return {
    stream,
    rows,
    bytes,
    crc32c,
    sequences: sequencesOf(fields.sequences === undefined ? [] : fields.sequences, rows),
  };
}

function streamOf(value: unknown): string {
  const fault = typeof value === "string" ? streamNameFault(value) : "must be a string";
  if (fault !== undefined) throw malformed("stream", fault, value);
  return value as string;
}

/** Without this check a forged receipt with more sequences than rows could make the read arbitrarily long. */
function sequencesOf(value: unknown, rows: number): CheckedReceipt["sequences"] {
  if (!Array.isArray(value)) throw malformed("sequences", "must be an array of pairs [first, last]", value);
  for (const [i, pair] of value.entries()) {
    if (!isRange(pair)) {
      const rule = "must be a pair [first, last] of positive whole numbers, first at most last";
      throw malformed("sequences", rule, pair, `sequences[${i}]`);
    }
  }
  const sum = value.reduce((total: number, [first, last]) => total + last - first + 1, 0);
  if (sum !== rows) throw malformed("sequences", `must add up to its rows (${rows})`, sum);
  return value;
}

function isRange(pair: unknown): pair is [number, number] {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  const [first, last] = pair;
  return Number.isSafeInteger(first) && Number.isSafeInteger(last) && first > 0 && first <= last;
}

function whole(field: string, value: unknown, most: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw malformed(field, `must be a whole number from 0 to ${most}`, value);
}

/** A checksum is only compared: an impossible one equals none. */
function numeric(field: string, value: unknown): number {
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  throw malformed(field, "must be a number", value);
}

function malformed(field: string, rule: string, value: unknown, shown = field): ConfigError {
  const code = value === undefined ? "config.missing" : "config.type";
  const subject = shown === "receipt" ? shown : `receipt's ${shown}`;
  return new ConfigError(code, { field, rule, received: describe(value), subject });
}
