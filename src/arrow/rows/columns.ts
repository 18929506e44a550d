/**
 * Builds Arrow columns value by value, in the form of apache-arrow's `Data`.
 *
 * @module
 */

import { ConfigError } from "../../errors/mod.ts";
import type { RowType, RowTypes } from "../../types/mod.ts";
import { describe } from "../../util/describe.ts";
import type { LooseData } from "../column.ts";
import { TypeId } from "../type_id.ts";
import { faultAt, refuseValue } from "./fault.ts";
import { jsonBytes } from "./json_text.ts";
import {
  binaryBytes,
  bitmap,
  bools,
  type BuiltType,
  type ColumnKind,
  dates,
  floats,
  integers,
  MOST,
  spans,
  timestamps,
  utf8Bytes,
} from "./values.ts";

/** The maximum nesting of types, as in any schema. */
const DEEPEST = 64;

/** A finished column. */
export interface BuiltColumn {
  readonly type: BuiltType;
  readonly metadata: ReadonlyMap<string, string>;
  readonly data: LooseData;
}

/** A column under construction. */
export interface ColumnBuilder {
  /** Appends a value; null and undefined are null. Throws a fault if the value does not fit. */
  add(value: unknown): void;
  /** Ends the column. */
  finish(): BuiltColumn;
}

/** Returns the builder of a column. `field` names the type in errors. */
export function columnBuilder(type: RowType, field: string, depth = 0): ColumnBuilder {
  const kind = kindOf(type, field, depth);
  const valid: boolean[] = [];
  return {
    add(value) {
      const isNull = value === null || value === undefined;
      if (isNull) kind.addNull();
      else kind.add(value);
      valid.push(!isNull);
    },
    finish() {
      const { type, isJson = false, data } = kind.finish();
      const nullCount = valid.reduce((count, isValid) => isValid ? count : count + 1, 0);
      const nulls = nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bitmap(valid) };
      const metadata = new Map(isJson ? [["ARROW:extension:name", "arrow.json"]] : []);
      return { type, metadata, data: { type, length: valid.length, ...nulls, ...data } };
    },
  };
}

function kindOf(type: RowType, field: string, depth: number): ColumnKind {
  if (depth > DEEPEST) {
    throw new ConfigError("config.range", { field, rule: `must not be nested deeper than ${DEEPEST} levels` });
  }
  if (typeof type === "object" && type !== null) {
    if (isOnly(type, "list")) return lists(columnBuilder(type.list, `${field}.list`, depth + 1));
    if (isOnly(type, "struct")) return structs(fieldBuilders(type.struct, `${field}.struct`, depth + 1));
  }
  switch (type) {
    case "bool":
      return bools();
    case "int8":
    case "int16":
    case "int32":
    case "int64":
    case "uint8":
    case "uint16":
    case "uint32":
    case "uint64":
      return integers(Number(/\d+/.exec(type)![0]) as 8 | 16 | 32 | 64, type.startsWith("i"));
    case "float32":
      return floats(Float32Array, 1);
    case "float64":
      return floats(Float64Array, 2);
    case "utf8":
      return spans({ typeId: TypeId.Utf8 }, utf8Bytes);
    case "binary":
      return spans({ typeId: TypeId.Binary }, binaryBytes);
    case "json":
      return spans({ typeId: TypeId.Utf8 }, jsonBytes, true);
    case "date":
      return dates();
    case "timestamp":
      return timestamps();
    default: {
      const rule = "must be bool, int8 to int64, uint8 to uint64, float32, float64, utf8, binary, json, date, " +
        "timestamp, { list: type } or { struct: types }";
      throw new ConfigError("config.type", { field, rule, received: describe(type) });
    }
  }
}

function isOnly<K extends "list" | "struct">(type: object, key: K): type is { readonly [k in K]: never } {
  return Object.hasOwn(type, key) && Object.keys(type).length === 1;
}

function lists(items: ColumnBuilder): ColumnKind {
  const offsets = [0];
  let size = 0;
  return {
    add(value) {
      if (!Array.isArray(value)) refuseValue(`expected an array: received ${describe(value)}`);
      if (size + value.length > MOST) refuseValue(`a column holds at most ${MOST} items: pass fewer rows`);
      for (let at = 0; at < value.length; at++) {
        try {
          items.add(value[at]);
        } catch (thrown) {
          throw faultAt(`[${at}]`, thrown);
        }
      }
      size += value.length;
      offsets.push(size);
    },
    addNull: () => offsets.push(size),
    finish() {
      const { type, metadata, data } = items.finish();
      return {
        type: { typeId: TypeId.List, children: [{ name: "item", type, metadata }] },
        data: { valueOffsets: Int32Array.from(offsets), children: [data] },
      };
    },
  };
}

function structs(fields: FieldBuilders): ColumnKind {
  return {
    add: fields.add,
    addNull: () => fields.add({}),
    finish() {
      const built = fields.finish();
      return {
        type: { typeId: TypeId.Struct, children: built.map(({ name, type, metadata }) => ({ name, type, metadata })) },
        data: { children: built.map(({ data }) => data) },
      };
    },
  };
}

/** The columns of a row, or the fields of a struct, under construction. */
export interface FieldBuilders {
  /** Appends the properties of an object. Throws a fault if one does not fit. */
  add(value: unknown): void;
  finish(): readonly (BuiltColumn & { readonly name: string })[];
}

/** Returns the builders of named columns. `field` names the types in errors. */
export function fieldBuilders(types: RowTypes, field: string, depth = 0): FieldBuilders {
  if (typeof types !== "object" || types === null || Array.isArray(types)) {
    const rule = "must be an object of types by name";
    throw new ConfigError("config.type", { field, rule, received: describe(types) });
  }
  const builders = new Map(
    Object.entries(types).map(([name, type]) => [name, columnBuilder(type, `${field}.${name}`, depth)]),
  );
  return {
    add(value) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        refuseValue(`expected an object: received ${describe(value)}`);
      }
      const unknown = Object.keys(value).find((key) => !builders.has(key));
      if (unknown !== undefined) refuseValue("the types do not list this key", `.${unknown}`);
      for (const [name, builder] of builders) {
        try {
          builder.add(propertyOf(value, name));
        } catch (thrown) {
          throw faultAt(`.${name}`, thrown);
        }
      }
    },
    finish: () => Array.from(builders, ([name, builder]) => ({ name, ...builder.finish() })),
  };
}

/**
 * Reads a property once: an own property, or one that a class defines. Properties of `Object.prototype` do not count, so
 * that a column named `constructor` is null if an object has no such key.
 */
function propertyOf(value: object, name: string): unknown {
  let holder: object | null = value;
  while (holder !== null && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder);
  const isBuiltIn = holder === null || (holder !== value && Object.getPrototypeOf(holder) === null);
  return isBuiltIn ? undefined : (value as Record<string, unknown>)[name];
}
