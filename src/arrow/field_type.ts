/**
 * A schema's fields in jetrow's form: one tagged union, for the type objects of both libraries.
 *
 * @module
 */

/** The layouts of a string column's values. */
export type TextMeaning = "string" | "json" | "decimal";

/** A field of a struct. */
export interface NamedType {
  readonly name: string;
  readonly type: FieldType;
}

/** The type of a column, with everything that decides how it is written. `source` is the library's own type object. */
export type FieldType = Shape & { readonly source: unknown };

/** A type without the object from which it was read. `label` is its name for error messages. */
export type Shape =
  & { readonly label: string }
  & (
    | { readonly kind: "null" }
    | { readonly kind: "bool" }
    | { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
    | { readonly kind: "float"; readonly bits: 16 | 32 | 64 }
    | { readonly kind: "decimal"; readonly bits: 32 | 64 | 128 | 256; readonly scale: number }
    | { readonly kind: "date"; readonly bits: 32 | 64 }
    | { readonly kind: "time"; readonly bits: 32 | 64; readonly unit: TimeUnit }
    | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly zoned: boolean }
    | { readonly kind: "duration"; readonly unit: TimeUnit }
    | { readonly kind: "interval"; readonly unit: 0 | 1 | 2 }
    | { readonly kind: "text"; readonly layout: SpanLayout; readonly meaning: TextMeaning }
    | { readonly kind: "binary"; readonly layout: SpanLayout }
    | { readonly kind: "fixed_binary"; readonly width: number; readonly uuid: boolean }
    | { readonly kind: "list"; readonly layout: ListLayout; readonly size: number; readonly item: FieldType }
    | { readonly kind: "struct"; readonly fields: readonly NamedType[] }
    | { readonly kind: "map"; readonly key: FieldType; readonly value: FieldType }
    | {
      readonly kind: "union";
      readonly dense: boolean;
      readonly codes: readonly number[];
      readonly members: readonly FieldType[];
    }
    | {
      readonly kind: "dictionary";
      readonly bits: 8 | 16 | 32 | 64;
      readonly signed: boolean;
      readonly value: FieldType;
    }
    | { readonly kind: "runs"; readonly bits: 16 | 32 | 64; readonly value: FieldType }
  );

/** The shape of one kind of type. */
export type ShapeOf<K extends Shape["kind"]> = Extract<Shape, { readonly kind: K }>;

/** Arrow's TimeUnit: seconds, milliseconds, microseconds, nanoseconds. */
export type TimeUnit = 0 | 1 | 2 | 3;

/** How variable-length values are found: by 32-bit offsets, 64-bit offsets or 16-byte views. */
export type SpanLayout = "offsets" | "large_offsets" | "views";

/** How list items are found: by offsets, by offsets and sizes, or by a fixed size. */
export type ListLayout = "offsets" | "large_offsets" | "views" | "large_views" | "fixed";

/** Returns the type of a column's values: that of a dictionary's values for a dictionary. */
export function valueType(type: FieldType): FieldType {
  let seen = type;
  while (seen.kind === "dictionary") seen = seen.value;
  return seen;
}

/**
 * Returns whether buffers made for one type can be read as another: everything but names, metadata and time zone equals.
 */
export function sameLayout(a: Shape, b: Shape): boolean {
  return signature(a) === signature(b);
}

function signature(type: Shape): string {
  switch (type.kind) {
    case "int":
    case "dictionary":
      return `${type.kind} ${type.bits} ${type.signed}`;
    case "decimal":
      return `decimal ${type.bits} ${type.scale}`;
    case "float":
    case "date":
    case "runs":
      return `${type.kind} ${type.bits}`;
    case "time":
      return `time ${type.bits} ${type.unit}`;
    case "timestamp":
    case "duration":
    case "interval":
      return `${type.kind} ${type.unit}`;
    case "text":
    case "binary":
      return `${type.kind} ${type.layout}`;
    case "fixed_binary":
      return `fixed_binary ${type.width}`;
    case "list":
      return `list ${type.layout} ${type.size}`;
    case "union":
      return `union ${type.dense} ${type.codes.join()}`;
    case "null":
    case "bool":
    case "struct":
    case "map":
      return type.kind;
  }
}
