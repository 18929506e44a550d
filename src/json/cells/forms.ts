/**
 * Cells of values in another form than the default.
 *
 * @module
 */

import type { SlotTest } from "../../arrow/access.ts";
import { type ColumnView, isNull } from "../../arrow/column.ts";
import type { ShapeOf } from "../../arrow/field_type.ts";
import { textSpan } from "../../arrow/text_span.ts";
import type { ColumnForms } from "../../options/json_forms.ts";
import { putBytes, scratch } from "../memory/scratch.ts";
import { putBase64Url, putHex } from "../write/binary_forms.ts";
import { putDecimal } from "../write/decimal.ts";
import { putInt64, putUint64 } from "../write/digits.ts";
import { isJsonNumber } from "../write/embedded.ts";
import { type Key, putKey, putNull } from "../write/key.ts";
import { putEpoch, putInfinity, putTimestamp } from "../write/temporal.ts";
import type { Cell } from "./cell.ts";
import { nonFiniteTest } from "./non_finite.ts";

const { bytes } = scratch;

const QUOTE = 34;

/** The largest magnitude that is written as a number in the form `safe`: the upper word of 2^53. */
const SAFE_HIGH = 0x200000;

const UNITS = { s: 0, ms: 1, us: 2, ns: 3 } as const;

/** Writes the value of a slot that is not null. */
type Put = (slot: number, position: number) => number;

/**
 * Returns the cell of a column whose values have another form than the default; undefined if all have the default.
 * `plain` makes the default cell.
 */
export function cellInForm(column: ColumnView, key: Key, forms: ColumnForms, plain: () => Cell): Cell | undefined {
  const { type } = column;
  switch (type.kind) {
    case "int":
      return type.bits < 64 || forms.int64 === "number" ? undefined : int64Cell(column, key, type, forms.int64);
    case "float":
      return forms.nonFinite === "string" ? undefined : finiteCell(column, key, plain());
    case "decimal":
      return forms.decimal === "number" ? undefined : cellOfPut(column, key, quotePut(decimalPut(column, type)));
    case "date":
      return forms.infinity === "extremes" || type.bits === 64 ? undefined : duckDateCell(column, key, plain());
    case "timestamp":
      return timestampCell(column, key, type, forms);
    case "text":
      return type.meaning === "decimal" ? decimalTextCell(column, key, forms, plain) : undefined;
    case "binary":
      return forms.binary === "base64" ? undefined : binaryCell(column, key, forms.binary);
    case "fixed_binary":
      return forms.binary === "base64" || type.uuid ? undefined : fixedBinaryCell(column, key, type, forms.binary);
    default:
      return undefined;
  }
}

function cellOfPut(column: ColumnView, key: Key, put: Put): Cell {
  return (slot, position) => isNull(column, slot) ? putNull(position, key) : put(slot, putKey(position, key));
}

function quotePut(put: Put): Put {
  return (slot, position) => {
    bytes[position] = QUOTE;
    const p = put(slot, position + 1);
    bytes[p] = QUOTE;
    return p + 1;
  };
}

function int64Cell(column: ColumnView, key: Key, { signed }: ShapeOf<"int">, form: "string" | "safe"): Cell {
  const { words } = column;
  const putWords = signed ? putInt64 : putUint64;
  const number: Put = (slot, position) => putWords(position, words[2 * slot]!, words[2 * slot + 1]!);
  const string = quotePut(number);
  if (form === "string") return cellOfPut(column, key, string);
  const isSafe: SlotTest = (slot) => {
    const high = signed ? words[2 * slot + 1]! : words[2 * slot + 1]! >>> 0;
    return high < SAFE_HIGH && (high > -SAFE_HIGH || (high === -SAFE_HIGH && words[2 * slot] !== 0));
  };
  return cellOfPut(column, key, (slot, position) => (isSafe(slot) ? number : string)(slot, position));
}

function decimalPut({ words }: ColumnView, { bits, scale }: ShapeOf<"decimal">): Put {
  const count = bits >> 5;
  return (slot, position) => putDecimal(position, words, slot * count, count, scale);
}

/** Writes `null` for numbers that are not finite. */
function finiteCell(column: ColumnView, key: Key, plain: Cell): Cell {
  const isNonFinite = nonFiniteTest(column)!;
  return (slot, position) => isNonFinite(slot) ? putNull(position, key) : plain(slot, position);
}

function duckDateCell(column: ColumnView, key: Key, plain: Cell): Cell {
  const { words } = column;
  return (slot, position) => {
    if (words[slot] !== -2147483647 || isNull(column, slot)) return plain(slot, position);
    return putInfinity(putKey(position, key), true);
  };
}

function timestampCell(
  column: ColumnView,
  key: Key,
  { unit, zoned }: ShapeOf<"timestamp">,
  { timestamp, naive, infinity }: ColumnForms,
): Cell | undefined {
  const { words } = column;
  const isIso = timestamp === "iso";
  const addsZone = isIso && naive === "Z" && !zoned;
  const isDuck = infinity === "duckdb";
  if (isIso && !addsZone && !isDuck) return undefined;
  return cellOfPut(column, key, (slot, position) => {
    const low = words[2 * slot]!;
    const high = words[2 * slot + 1]!;
    if (isDuck && low === 1 && high === -2147483648) return putInfinity(position, true);
    return isIso
      ? putTimestamp(position, low, high, unit, zoned || addsZone)
      : putEpoch(position, low, high, unit, UNITS[timestamp]);
  });
}

/** A decimal in a string column; the default cell writes non-finite numbers and refuses invalid ones. */
function decimalTextCell(column: ColumnView, key: Key, forms: ColumnForms, plain: () => Cell): Cell | undefined {
  if (forms.decimal === "number") return forms.nonFinite === "string" ? undefined : finiteCell(column, key, plain());
  const span = textSpan(column);
  const other = forms.nonFinite === "string" ? plain() : finiteCell(column, key, plain());
  return (slot, position) => {
    if (!span.seek(slot)) return putNull(position, key);
    if (!isJsonNumber(span.bytes, span.start, span.end)) return other(slot, position);
    const p = putKey(position, key);
    bytes[p] = QUOTE;
    const end = putBytes(p + 1, span.bytes, span.start, span.end);
    bytes[end] = QUOTE;
    return end + 1;
  };
}

function binaryCell(column: ColumnView, key: Key, form: "base64url" | "hex"): Cell {
  const span = textSpan(column);
  const put = form === "hex" ? putHex : putBase64Url;
  return (slot, position) =>
    span.seek(slot) ? put(putKey(position, key), span.bytes, span.start, span.end) : putNull(position, key);
}

function fixedBinaryCell(
  column: ColumnView,
  key: Key,
  { width }: ShapeOf<"fixed_binary">,
  form: "base64url" | "hex",
): Cell {
  const put = form === "hex" ? putHex : putBase64Url;
  return cellOfPut(column, key, (slot, position) => put(position, column.bytes, slot * width, (slot + 1) * width));
}
