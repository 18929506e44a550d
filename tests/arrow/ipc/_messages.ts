/** Writes Arrow IPC messages field by field, including metadata that no library would write. */

/** A field of a FlatBuffers table. */
export type Field =
  | readonly ["u8" | "i16" | "i32" | "i64", number]
  | readonly ["string", string]
  | readonly ["table", Table]
  | readonly ["tables", readonly Table[]]
  | readonly ["i64s", readonly number[]]
  | readonly ["pairs", readonly (readonly [number, number])[]];

/** A FlatBuffers table: its fields by slot. */
export type Table = Readonly<Record<number, Field>>;

/** Writes a table, followed by all that it refers to. */
export function flatbuffer(root: Table): Uint8Array {
  const writer = new Writer();
  writer.view.setUint32(0, writer.table(root), true);
  return writer.bytes();
}

class Writer {
  readonly view = new DataView(new ArrayBuffer(1 << 21));
  #end = 8;

  bytes(): Uint8Array {
    return new Uint8Array(this.view.buffer, 0, 8 * Math.ceil(this.#end / 8)).slice();
  }

  table(table: Table): number {
    const slots = Object.entries(table);
    const vtableSize = 4 + 2 * (1 + Math.max(-1, ...slots.map(([slot]) => Number(slot))));
    const vtable = this.#reserve(vtableSize);
    const size = 8 + 8 * slots.length;
    const at = this.#reserve(size);
    this.view.setInt32(at, at - vtable, true);
    this.view.setUint16(vtable, vtableSize, true);
    this.view.setUint16(vtable + 2, size, true);
    slots.forEach(([slot, field], index) => {
      this.view.setUint16(vtable + 4 + 2 * Number(slot), 8 + 8 * index, true);
      this.#field(at + 8 + 8 * index, field);
    });
    return at;
  }

  #field(at: number, field: Field): void {
    switch (field[0]) {
      case "u8":
        return this.view.setUint8(at, field[1]);
      case "i16":
        return this.view.setInt16(at, field[1], true);
      case "i32":
        return this.view.setInt32(at, field[1], true);
      case "i64":
        return this.view.setBigInt64(at, BigInt(field[1]), true);
      case "table":
        return this.view.setUint32(at, this.table(field[1]) - at, true);
      case "string": {
        const bytes = new TextEncoder().encode(field[1]);
        new Uint8Array(this.view.buffer).set(bytes, this.#vector(at, bytes.length, 1));
        return;
      }
      case "tables": {
        const start = this.#vector(at, field[1].length, 4);
        const known = new Map<Table, number>(); // a table that is in the vector many times is written once
        return field[1].forEach((table, index) => {
          const target = known.get(table) ?? this.table(table);
          known.set(table, target);
          this.view.setUint32(start + 4 * index, target - (start + 4 * index), true);
        });
      }
      case "i64s":
        return this.#int64s(this.#vector(at, field[1].length, 8), field[1]);
      case "pairs":
        return this.#int64s(this.#vector(at, field[1].length, 16), field[1].flat());
    }
  }

  #int64s(at: number, values: readonly number[]): void {
    values.forEach((value, index) => this.view.setBigInt64(at + 8 * index, BigInt(value), true));
  }

  /** Reserves a vector that a field refers to, and returns where its elements begin. */
  #vector(at: number, count: number, size: number): number {
    const start = this.#reserve(4 + count * size + 4) + 4;
    this.view.setUint32(start - 4, count, true);
    this.view.setUint32(at, start - 4 - at, true);
    return start;
  }

  #reserve(size: number): number {
    const at = 8 * Math.ceil(this.#end / 8);
    this.#end = at + size;
    return at;
  }
}

/** Column types (Schema.fbs): the union's tag and table. */
export const types = {
  int32: [2, { 0: ["i32", 32], 1: ["u8", 1] }],
  utf8: [5, {}],
  list: [12, {}],
  structs: [13, {}],
  utf8View: [24, {}],
} as const satisfies Record<string, readonly [number, Table]>;

/** A field of a schema. `more` sets further slots: 4 is its dictionary, 6 its metadata. */
export function field(
  name: string,
  [tag, type]: readonly [number, Table],
  children: readonly Table[] = [],
  more: Table = {},
): Table {
  return {
    0: ["string", name],
    1: ["u8", 1],
    2: ["u8", tag],
    3: ["table", type],
    5: ["tables", children],
    ...more,
  };
}

/** Frames a message: the marker, the length, the metadata, the body. */
export function message(headerType: number, header: Table, body = new Uint8Array(0)): Uint8Array {
  const metadata = flatbuffer({
    0: ["i16", 4],
    1: ["u8", headerType],
    2: ["table", header],
    3: ["i64", body.length],
  });
  const prefix = new Uint8Array(8).fill(255, 0, 4);
  new DataView(prefix.buffer).setInt32(4, metadata.length, true);
  return concat(prefix, metadata, body);
}

/** A schema message. `more` sets further slots: 0 is the endianness, 2 the metadata. */
export function schema(fields: readonly Table[], more: Table = {}): Uint8Array {
  return message(1, { 1: ["tables", fields], ...more });
}

/** What a record batch announces. */
export interface Batch {
  readonly rows: number;
  /** Length and null count of each column. */
  readonly nodes: readonly (readonly [number, number])[];
  /** The buffers, one after another at multiples of 8, or at `positions` if given. */
  readonly buffers: readonly Uint8Array[];
  readonly positions?: readonly (readonly [offset: number, length: number])[];
  readonly variadic?: readonly number[];
  readonly codec?: "lz4" | "zstd";
}

/** A record batch message. */
export function batch(announced: Batch): Uint8Array {
  return message(3, ...record(announced));
}

/** A dictionary batch: all values of a dictionary, or a delta. */
export function dictionary(id: number, isDelta: boolean, values: Batch): Uint8Array {
  const [data, body] = record(values);
  return message(2, { 0: ["i64", id], 1: ["table", data], 2: ["u8", isDelta ? 1 : 0] }, body);
}

function record({ rows, nodes, buffers, positions, variadic, codec }: Batch): [Table, Uint8Array<ArrayBuffer>] {
  const padded = buffers.map((buffer) => concat(buffer, new Uint8Array((8 - buffer.length % 8) % 8)));
  let end = 0;
  const placed = padded.map(({ length }, index) => [(end += length) - length, buffers[index]!.length] as const);
  const table: Table = {
    0: ["i64", rows],
    1: ["pairs", nodes],
    2: ["pairs", positions ?? placed],
    ...(codec && { 3: ["table", { 0: ["u8", codec === "lz4" ? 0 : 1] }] }),
    ...(variadic && { 4: ["i64s", variadic] }),
  };
  return [table, concat(...padded)];
}

/** A stream of messages, with the end-of-stream marker. */
export function stream(...messages: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return concat(...messages, Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0));
}

/** Concatenates bytes. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** 32-bit integers as bytes. */
export function int32s(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}
