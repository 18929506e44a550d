/**
 * Converts a library's schema to jetrow's types: the only file that knows the type objects of apache-arrow and
 * flechette. Every type that cannot be written is refused here, before any value is read.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import type { FieldType, NamedType, Shape, SpanLayout, TextMeaning, TimeUnit } from "./field_type.ts";
import { type LooseType, TypeId, typeName } from "./type_id.ts";

/** The maximum nesting of a type. */
const DEEPEST = 64;

/** The maximum number of types in a schema, including nested ones: a type that contains itself twice would have 2^64. */
const MOST_TYPES = 1 << 18;

/** The maximum number of digits of a decimal's scale. Real scales end at 76; one damaged bit makes 500 MB per value. */
const LARGEST_SCALE = 1000;

/** A field of both libraries; any property may be missing or wrong. */
export interface LooseField {
  readonly name?: unknown;
  readonly type?: LooseType | null;
  readonly metadata?: unknown;
}

/** The metadata that changes how a field is written. */
interface Marks {
  readonly logical: string | undefined;
  readonly extension: string | undefined;
}

interface Walk {
  readonly column: string;
  readonly budget: { left: number };
}

/** The columns' names and types. */
export function resolveColumns(fields: readonly LooseField[]): readonly NamedType[] {
  const budget = { left: MOST_TYPES };
  const columns = fields.map((field) => {
    const name = nameOf(field);
    return { name, type: resolveField(field, 0, { column: name, budget }) };
  });
  const twice = repeated(columns);
  if (twice !== undefined) {
    throw new EncodeError("encode.column_name", `Cannot encode rows: two columns are called ${describe(twice)}`, {
      column: twice,
    });
  }
  return columns;
}

/**
 * Returns the type of the type object of a column's data, to be compared with the schema's; undefined for an unknown
 * one.
 */
export function resolveType(type: LooseType | null | undefined): FieldType | undefined {
  try {
    return resolve(type, { logical: undefined, extension: undefined }, 0, {
      column: "",
      budget: { left: MOST_TYPES },
    });
  } catch (error) {
    if (error instanceof EncodeError) return undefined;
    throw error;
  }
}

function nameOf(field: LooseField | null | undefined): string {
  return String(field?.name ?? "");
}

function repeated(fields: readonly NamedType[]): string | undefined {
  const seen = new Set<string>();
  return fields.find(({ name }) => seen.size === seen.add(name).size)?.name;
}

function resolveField(field: LooseField | null | undefined, depth: number, walk: Walk): FieldType {
  return resolve(field?.type, marksOf(field?.metadata), depth, walk);
}

function marksOf(metadata: unknown): Marks {
  if (!(metadata instanceof Map) && typeof (metadata as Map<string, string> | null)?.get !== "function") {
    return { logical: undefined, extension: undefined };
  }
  const map = metadata as ReadonlyMap<string, string>;
  return { logical: map.get("filament.logical"), extension: map.get("ARROW:extension:name") };
}

function refuse(type: LooseType | null | undefined, why: string, walk: Walk): never {
  const text = `Cannot encode column ${describe(walk.column)}: its type ${typeName(type)} ${why}`;
  throw new EncodeError("encode.type", text, { column: walk.column });
}

function oneOf<T extends number>(value: unknown, allowed: readonly T[], type: LooseType, walk: Walk): T {
  if (!allowed.includes(value as T)) refuse(type, "is none that jetrow knows", walk);
  return value as T;
}

function wholeNumber(value: unknown, type: LooseType, walk: Walk): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) refuse(type, `has a size of ${describe(value)}`, walk);
  return value as number;
}

function childFields(type: LooseType): readonly LooseField[] {
  return Array.isArray(type.children) ? type.children : [];
}

function resolve(type: LooseType | null | undefined, marks: Marks, depth: number, walk: Walk): FieldType {
  if (typeof type !== "object" || type === null) refuse(type, "is none that jetrow knows", walk);
  if (depth > DEEPEST) refuse(type, `is nested deeper than ${DEEPEST} levels`, walk);
  if (--walk.budget.left < 0) refuse(type, `makes the schema pass ${MOST_TYPES} types`, walk);
  const resolved = resolveNested(type, marks, depth + 1, walk) ?? resolveText(type, marks, walk) ??
    resolveLeaf(type, walk);
  return { ...resolved, source: type };
}

function resolveNested(type: LooseType, marks: Marks, depth: number, walk: Walk): Shape | undefined {
  const label = typeName(type);
  const child = (at: number): FieldType => resolveField(childFields(type)[at], depth, walk);
  switch (type.typeId) {
    case TypeId.List:
      return { kind: "list", layout: "offsets", size: 0, item: child(0), label };
    case TypeId.LargeList:
      return { kind: "list", layout: "large_offsets", size: 0, item: child(0), label };
    case TypeId.ListView:
      return { kind: "list", layout: "views", size: 0, item: child(0), label };
    case TypeId.LargeListView:
      return { kind: "list", layout: "large_views", size: 0, item: child(0), label };
    case TypeId.FixedSizeList: {
      const size = wholeNumber(type.listSize ?? type.stride, type, walk);
      return { kind: "list", layout: "fixed", size, item: child(0), label };
    }
    case TypeId.Struct:
      return { kind: "struct", fields: structFields(type, depth, walk), label };
    case TypeId.Map:
      return { kind: "map", ...entries(type, depth, walk), label };
    case TypeId.Union:
      return resolveUnion(type, depth, walk);
    case TypeId.Dictionary: {
      const index = type.indices as LooseType | undefined;
      const bits = oneOf(index?.bitWidth, [8, 16, 32, 64] as const, type, walk);
      const signed = Boolean(index?.isSigned ?? index?.signed);
      const value = resolve(type.dictionary as LooseType, marks, depth, walk);
      return { kind: "dictionary", bits, signed, value, label };
    }
    case TypeId.RunEndEncoded:
      return resolveRuns(type, marks, depth, walk);
    default:
      return undefined;
  }
}

function structFields(type: LooseType, depth: number, walk: Walk): readonly NamedType[] {
  const fields = childFields(type).map((field) => ({
    name: nameOf(field),
    type: resolveField(field, depth, walk),
  }));
  const twice = repeated(fields);
  if (twice === undefined) return fields;
  const text = `Cannot encode column ${describe(walk.column)}: two fields of a struct are called ${describe(twice)}`;
  throw new EncodeError("encode.column_name", text, { column: walk.column });
}

function entries(type: LooseType, depth: number, walk: Walk): { readonly key: FieldType; readonly value: FieldType } {
  const pair = childFields(type)[0]?.type;
  if (pair?.typeId !== TypeId.Struct || childFields(pair).length !== 2) {
    refuse(type, "has entries that are not pairs of key and value", walk);
  }
  const [key, value] = childFields(pair);
  // Logical types and arrow.json have no effect on keys; arrow.uuid has.
  const { extension } = marksOf(key?.metadata);
  const marks = { logical: undefined, extension: extension === "arrow.uuid" ? extension : undefined };
  return { key: resolve(key?.type, marks, depth, walk), value: resolveField(value, depth, walk) };
}

function resolveUnion(type: LooseType, depth: number, walk: Walk): Shape {
  const dense = oneOf(type.mode, [0, 1], type, walk) === 1;
  const members = childFields(type).map((field) => resolveField(field, depth, walk));
  const codes = type.typeIds === undefined || type.typeIds === null
    ? members.map((_, at) => at)
    : Array.from(type.typeIds as Iterable<number>, Number);
  if (codes.length !== members.length || new Set(codes).size !== codes.length) {
    refuse(type, "has type ids that do not go with its members", walk);
  }
  return { kind: "union", dense, codes, members, label: typeName(type) };
}

function resolveRuns(type: LooseType, marks: Marks, depth: number, walk: Walk): Shape {
  const [ends, values] = childFields(type);
  const bits = oneOf(ends?.type?.bitWidth, [16, 32, 64] as const, type, walk);
  const own = marksOf(values?.metadata);
  const both = { logical: marks.logical ?? own.logical, extension: marks.extension ?? own.extension };
  return { kind: "runs", bits, value: resolve(values?.type, both, depth, walk), label: typeName(type) };
}

function spanLayout(typeId: unknown): SpanLayout {
  if (typeId === TypeId.LargeUtf8 || typeId === TypeId.LargeBinary) return "large_offsets";
  return typeId === TypeId.Utf8View || typeId === TypeId.BinaryView ? "views" : "offsets";
}

function meaning({ logical, extension }: Marks): TextMeaning {
  if (extension === "arrow.json" || logical === "json") return "json";
  return logical === "decimal" ? "decimal" : "string";
}

function resolveText(type: LooseType, marks: Marks, walk: Walk): Shape | undefined {
  const label = typeName(type);
  switch (type.typeId) {
    case TypeId.Utf8:
    case TypeId.LargeUtf8:
    case TypeId.Utf8View:
      return { kind: "text", layout: spanLayout(type.typeId), meaning: meaning(marks), label };
    case TypeId.Binary:
    case TypeId.LargeBinary:
    case TypeId.BinaryView:
      return { kind: "binary", layout: spanLayout(type.typeId), label };
    case TypeId.FixedSizeBinary: {
      const width = wholeNumber(type.byteWidth ?? type.stride, type, walk);
      return { kind: "fixed_binary", width, uuid: width === 16 && marks.extension === "arrow.uuid", label };
    }
    default:
      return undefined;
  }
}

const UNITS = [0, 1, 2, 3] as const satisfies readonly TimeUnit[];

function resolveLeaf(type: LooseType, walk: Walk): Shape {
  const label = typeName(type);
  switch (type.typeId) {
    case TypeId.Null:
      return { kind: "null", label };
    case TypeId.Bool:
      return { kind: "bool", label };
    case TypeId.Int: {
      const bits = oneOf(type.bitWidth, [8, 16, 32, 64] as const, type, walk);
      return { kind: "int", bits, signed: Boolean(type.isSigned ?? type.signed), label };
    }
    case TypeId.Float:
      return {
        kind: "float",
        bits: ([16, 32, 64] as const)[oneOf(type.precision, [0, 1, 2] as const, type, walk)],
        label,
      };
    case TypeId.Decimal: {
      const bits = oneOf(type.bitWidth ?? 128, [32, 64, 128, 256] as const, type, walk);
      const scale = type.scale as number;
      if (!Number.isSafeInteger(scale) || Math.abs(scale) > LARGEST_SCALE) {
        refuse(type, `has a scale of ${describe(scale)}: the limit is ${LARGEST_SCALE}`, walk);
      }
      return { kind: "decimal", bits, scale, label };
    }
    case TypeId.Date:
      return { kind: "date", bits: oneOf(type.unit, [0, 1], type, walk) === 0 ? 32 : 64, label };
    case TypeId.Time: {
      const unit = oneOf(type.unit, UNITS, type, walk);
      return {
        kind: "time",
        unit,
        bits: oneOf(type.bitWidth ?? (unit < 2 ? 32 : 64), [32, 64] as const, type, walk),
        label,
      };
    }
    case TypeId.Timestamp: {
      const zoned = typeof type.timezone === "string" && type.timezone !== "";
      return { kind: "timestamp", unit: oneOf(type.unit, UNITS, type, walk), zoned, label };
    }
    case TypeId.Duration:
      return { kind: "duration", unit: oneOf(type.unit, UNITS, type, walk), label };
    case TypeId.Interval:
      return { kind: "interval", unit: oneOf(type.unit, [0, 1, 2] as const, type, walk), label };
    default:
      return refuse(type, "is none that jetrow knows", walk);
  }
}
