/**
 * Objects without their null members.
 *
 * @module
 */

import { nullTest, type SlotTest } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import type { ColumnForms } from "../../options/json_forms.ts";
import { scratch } from "../memory/scratch.ts";
import type { Cell } from "./cell.ts";
import { nonFiniteTest } from "./non_finite.ts";

const { bytes } = scratch;

const COMMA = 44;
const OPEN_OBJECT = 123;

/** A member of an object. */
export interface SparseMember {
  /** Writes its name and its value, without the bytes before them. */
  readonly cell: Cell;
  /** Whether it is omitted; absent: never. */
  readonly absent: SlotTest | undefined;
}

/** Returns the test of the values that are omitted, if null members are. */
export function absentTest(column: ColumnView, { nulls, nonFinite }: ColumnForms): SlotTest | undefined {
  if (nulls === "keep") return undefined;
  return nullTest(column, nonFinite === "null" ? nonFiniteTest : undefined);
}

/**
 * Returns cells that write the members of an object in order, with the opening brace and the commas. Every object begins
 * with the first cell, even if the object before it failed.
 */
export function sparseCells(members: readonly SparseMember[]): Cell[] {
  let isEmpty = true;
  return members.map(({ cell, absent }, index) => (slot, position) => {
    let p = position;
    if (index === 0) {
      bytes[p++] = OPEN_OBJECT;
      isEmpty = true;
    }
    if (absent?.(slot)) return p;
    if (!isEmpty) bytes[p++] = COMMA;
    isEmpty = false;
    return cell(slot, p);
  });
}
