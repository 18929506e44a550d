/**
 * Makes the closure that writes the cells of a column: the one switch over all types.
 *
 * @module
 */

import type { ColumnView } from "../../arrow/column.ts";
import { type Cell, guarded } from "./cell.ts";
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
import { listCell, mapCell, structCell } from "./nested.ts";
import { decimalCell, floatCell, intCell } from "./numbers.ts";
import { binaryCell, textCell } from "./text.ts";

/**
 * Returns the cell of a column for slots below `slots`. Every cell writes at least one byte, so that values that a batch
 * repeats (runs, overlapping lists) reach a limit of bytes.
 */
export function cellOf(column: ColumnView, key: Key, slots: number): Cell {
  return guarded(unguarded(column, key, slots), column, slots);
}

function unguarded(column: ColumnView, key: Key, slots: number): Cell {
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
      return listCell(column, key, type, cellOf);
    case "struct":
      return structCell(column, key, type, slots, cellOf);
    case "map":
      return mapCell(column, key, type, cellOf);
    case "union":
      return unionCell(column, key, type, slots, cellOf);
    case "dictionary":
      return dictionaryCell(column, key, cellOf);
    case "runs":
      return runsCell(column, key, cellOf);
  }
}
