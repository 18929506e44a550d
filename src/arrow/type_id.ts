/**
 * Arrow's type ids, which are the same in apache-arrow and flechette (Arrow's Schema.fbs, with -1 for dictionaries), and
 * the names that error messages use.
 *
 * @module
 */

/** Arrow's type ids. */
export const TypeId = {
  Dictionary: -1,
  Null: 1,
  Int: 2,
  Float: 3,
  Binary: 4,
  Utf8: 5,
  Bool: 6,
  Decimal: 7,
  Date: 8,
  Time: 9,
  Timestamp: 10,
  Interval: 11,
  List: 12,
  Struct: 13,
  Union: 14,
  FixedSizeBinary: 15,
  FixedSizeList: 16,
  Map: 17,
  Duration: 18,
  LargeBinary: 19,
  LargeUtf8: 20,
  LargeList: 21,
  RunEndEncoded: 22,
  BinaryView: 23,
  Utf8View: 24,
  ListView: 25,
  LargeListView: 26,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(TypeId).map(([name, id]) => [id, name]));
const UNITS = ["s", "ms", "us", "ns"];
const FLOATS = ["16", "32", "64"];
const INTERVALS = ["year_month", "day_time", "month_day_nano"];

/** The properties of a library's type object that jetrow reads; any of them may be missing or wrong. */
export interface LooseType {
  readonly typeId?: unknown;
  readonly bitWidth?: unknown;
  readonly isSigned?: unknown;
  readonly signed?: unknown;
  readonly precision?: unknown;
  readonly scale?: unknown;
  readonly unit?: unknown;
  readonly timezone?: unknown;
  readonly byteWidth?: unknown;
  readonly listSize?: unknown;
  readonly stride?: unknown;
  readonly mode?: unknown;
  readonly typeIds?: unknown;
  readonly children?: unknown;
  readonly indices?: unknown;
  readonly dictionary?: unknown;
}

/** Returns the name of a type for error messages. */
export function typeName(type: LooseType | null | undefined): string {
  const id = type?.typeId;
  switch (id) {
    case TypeId.Int:
      return `${(type!.isSigned ?? type!.signed) ? "Int" : "UInt"}${String(type!.bitWidth)}`;
    case TypeId.Float:
      return `Float${FLOATS[Number(type!.precision)] ?? `[precision ${String(type!.precision)}]`}`;
    case TypeId.Decimal:
      return `Decimal${String(type!.bitWidth)}(${String(type!.precision)}, ${String(type!.scale)})`;
    case TypeId.Date:
      return type!.unit === 0 ? "Date32" : "Date64";
    case TypeId.Time:
    case TypeId.Timestamp:
    case TypeId.Duration:
      return `${NAMES.get(id)}[${UNITS[Number(type!.unit)] ?? `unit ${String(type!.unit)}`}]`;
    case TypeId.Interval:
      return `Interval[${INTERVALS[Number(type!.unit)] ?? `unit ${String(type!.unit)}`}]`;
    default:
      return (typeof id === "number" ? NAMES.get(id) : undefined) ?? `unknown (id ${String(id)})`;
  }
}
