/**
 * Makes the closure that writes the cells of a column: the one switch over all types.
 *
 * @module
 */

import type { ColumnView } from "../../arrow/column.ts";
import type { ColumnForms } from "../../options/json_forms.ts";
import { type Cell, type CellMaker, guardCell } from "./cell.ts";
import { cellInForm } from "./forms.ts";
import { dictionaryCell, runsCell, unionCell } from "./indirect.ts";
import type { Key } from "../write/key.ts";
import {
  boolCell,
  dateCell,
  durationCell,
  fixedBinaryCell,
  intervalCell,
  nullCell,
  timeCell,
  timestampCell,
} from "./fixed.ts";
import { listCell, mapCell, sparseStructCell, structCell } from "./nested.ts";
import { decimalCell, floatCell, intCell } from "./numbers.ts";
import { binaryCell, textCell } from "./text.ts";

/**
 * Returns the cell of a column for slots below `slots`, in the default forms. Every cell writes at least one byte, so
 * that values that a batch repeats (runs, overlapping lists) reach a limit of bytes.
 */
export const cellOf: CellMaker = (column, key, slots) =>
  guardCell(plainCell(column, key, slots, cellOf), column, slots);

/**
 * Returns the function that makes the cells of a column whose values have these forms. Only omitted members of an object
 * write nothing, and the object itself has its braces.
 */
export function cellMaker(forms: ColumnForms): CellMaker {
  const make: CellMaker = (column, key, slots) => {
    if (column.type.kind === "struct" && forms.nulls === "omit") {
      return guardCell(sparseStructCell(column, key, column.type, slots, make, forms), column, slots);
    }
    const plain = (): Cell => plainCell(column, key, slots, make);
    return guardCell(cellInForm(column, key, forms, plain) ?? plain(), column, slots);
  };
  return make;
}

function plainCell(column: ColumnView, key: Key, slots: number, make: CellMaker): Cell {
  const { type } = column;
  switch (type.kind) {
    case "null":
      return nullCell(key);
    case "bool":
      return boolCell(column, key);
    case "int":
      return intCell(column, key, type);
    case "float":
      return floatCell(column, key, type);
    case "decimal":
      return decimalCell(column, key, type);
    case "date":
      return dateCell(column, key, type);
    case "time":
      return timeCell(column, key, type);
    case "timestamp":
      return timestampCell(column, key, type);
    case "duration":
      return durationCell(column, key, type);
    case "interval":
      return intervalCell(column, key, type);
    case "text":
      return textCell(column, key, type.layout, type.meaning);
    case "binary":
      return binaryCell(column, key, type.layout);
    case "fixed_binary":
      return fixedBinaryCell(column, key, type);
    case "list":
      return listCell(column, key, type, make);
    case "struct":
      return structCell(column, key, type, slots, make);
    case "map":
      return mapCell(column, key, type, make);
    case "union":
      return unionCell(column, key, type, slots, make);
    case "dictionary":
      return dictionaryCell(column, key, make);
    case "runs":
      return runsCell(column, key, make);
  }
}
