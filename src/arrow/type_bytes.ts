/**
 * Computes bytes of Arrow buffers that follow from a type alone, whatever the data.
 *
 * @module
 */

import type { FieldType } from "./field_type.ts";

/**
 * Returns what a piece of a column references in addition to its rows' own weights: the last offset, and padding bits.
 */
export function pieceWeight(type: FieldType): number {
  switch (type.kind) {
    case "bool":
      return 7 / 8;
    case "text":
    case "binary":
      return type.layout === "views" ? 0 : offsetWidth(type);
    case "list":
      return pieceWeight(type.item) +
        (type.layout === "offsets" || type.layout === "large_offsets" ? offsetWidth(type) : 0);
    case "map":
      return offsetWidth(type) + pieceWeight(type.key) + pieceWeight(type.value);
    case "struct":
      return type.fields.reduce((sum, field) => sum + pieceWeight(field.type), 0);
    case "union":
      return type.members.reduce((sum, member) => sum + pieceWeight(member), 0);
    case "runs":
      return pieceWeight(type.value);
    default:
      return 0;
  }
}

/** Returns the weight of every slot of a type, if it does not depend on the data. */
export function constantWeight(type: FieldType): number | undefined {
  switch (type.kind) {
    case "null":
      return 0;
    case "bool":
      return 1 / 8;
    case "int":
    case "float":
    case "decimal":
    case "date":
    case "time":
    case "dictionary":
      return type.bits / 8;
    case "timestamp":
    case "duration":
      return 8;
    case "interval":
      return 4 << type.unit;
    case "fixed_binary":
      return type.width;
    case "list":
      return type.layout === "fixed" ? times(type.size, constantWeight(type.item)) : undefined;
    case "struct":
      return sum(type.fields.map((field) => constantWeight(field.type)));
    case "union":
      return type.dense ? undefined : sum([1, ...type.members.map(constantWeight)]);
    default:
      return undefined;
  }
}

function times(count: number, weight: number | undefined): number | undefined {
  return weight === undefined ? undefined : count * weight;
}

function sum(weights: readonly (number | undefined)[]): number | undefined {
  return weights.reduce((all, weight) => all === undefined || weight === undefined ? undefined : all + weight, 0);
}

/** Bytes of one offset. */
export function offsetWidth(type: FieldType): 4 | 8 {
  return "layout" in type && (type.layout === "large_offsets" || type.layout === "large_views") ? 8 : 4;
}
