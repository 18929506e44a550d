/**
 * Reads and writes structs of Thrift's compact protocol, as in Parquet's footers, without a schema: after reading, some
 * fields can be changed and the struct written again.
 *
 * @module
 */

/** The types of values. */
export const ThriftType = {
  True: 1,
  False: 2,
  Byte: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  Double: 7,
  Binary: 8,
  List: 9,
  Set: 10,
  Map: 11,
  Struct: 12,
} as const;

const DEEPEST = 64;

/** A value with its type. Integers are bigints; a double is its 8 bytes. */
export type ThriftValue =
  | { readonly type: 1 | 2 }
  | { readonly type: 3 | 4 | 5 | 6; readonly integer: bigint }
  | { readonly type: 7 | 8; readonly bytes: Uint8Array }
  | { readonly type: 9 | 10; readonly itemType: number; readonly items: readonly ThriftValue[] }
  | { readonly type: 11; readonly types: number; readonly items: readonly ThriftValue[] }
  | { readonly type: 12; readonly fields: ThriftStruct };

/** The fields of a struct by their ids. */
export type ThriftStruct = Map<number, ThriftValue>;

/** Reads the struct at the beginning of bytes. Throws a RangeError if they are truncated or not a struct. */
export function readThrift(bytes: Uint8Array): ThriftStruct {
  return new Reader(bytes).struct(0);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  struct(depth: number): ThriftStruct {
    if (depth > DEEPEST) throw new RangeError("a struct is nested too deep");
    const fields: ThriftStruct = new Map();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return fields;
      id = head >> 4 === 0 ? Number(this.#zigzag()) : id + (head >> 4);
      fields.set(id, this.#value(head & 15, depth));
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case ThriftType.True:
      case ThriftType.False:
        return { type };
      case ThriftType.Byte:
        return { type, integer: BigInt(this.#byte()) };
      case ThriftType.I16:
      case ThriftType.I32:
      case ThriftType.I64:
        return { type, integer: this.#zigzag() };
      case ThriftType.Double:
        return { type, bytes: this.#take(8) };
      case ThriftType.Binary:
        return { type, bytes: this.#take(this.#count()) };
      case ThriftType.List:
      case ThriftType.Set: {
        const head = this.#byte();
        const count = head >> 4 === 15 ? this.#count() : head >> 4;
        return { type, itemType: head & 15, items: this.#items(count, [head & 15], depth) };
      }
      case ThriftType.Map: {
        const count = this.#count();
        const types = count === 0 ? 0 : this.#byte();
        return { type, types, items: this.#items(2 * count, [types >> 4, types & 15], depth) };
      }
      case ThriftType.Struct:
        return { type, fields: this.struct(depth + 1) };
      default:
        throw new RangeError(`a value is of the unknown type ${type}`);
    }
  }

  /** Reads the items of a list or, alternately, the keys and values of a map. */
  #items(count: number, types: readonly number[], depth: number): readonly ThriftValue[] {
    const items: ThriftValue[] = [];
    for (let n = 0; n < count; n++) {
      const type = types[n % types.length]!;
      // A boolean item is a byte; a boolean field has its value in its type.
      const isBoolean = type === ThriftType.True || type === ThriftType.False;
      items.push(this.#value(isBoolean ? this.#byte() : type, depth + 1));
    }
    return items;
  }

  #byte(): number {
    if (this.#at >= this.#bytes.length) throw new RangeError("it is cut");
    return this.#bytes[this.#at++]!;
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError("it is cut");
    return this.#bytes.subarray(this.#at, this.#at += length);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError("an integer has too many bytes");
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return value >> 1n ^ -(value & 1n);
  }

  /** Reads a number of bytes, or of items that have at least one byte each. */
  #count(): number {
    const count = Number(this.#varint());
    if (count > this.#bytes.length - this.#at) throw new RangeError("it is cut");
    return count;
  }
}

/** Returns the bytes of a struct. */
export function writeThrift(fields: ThriftStruct): Uint8Array {
  const out = new Writer();
  out.struct(fields);
  return out.finish();
}

class Writer {
  #bytes = new Uint8Array(1 << 16);
  #size = 0;

  struct(fields: ThriftStruct): void {
    let last = 0;
    for (const [id, value] of [...fields].sort(([a], [b]) => a - b)) {
      const delta = id - last;
      if (delta >= 1 && delta <= 15) this.#byte(delta << 4 | value.type);
      else {
        this.#byte(value.type);
        this.#zigzag(BigInt(id));
      }
      this.#value(value);
      last = id;
    }
    this.#byte(0);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  #value(value: ThriftValue): void {
    switch (value.type) {
      case ThriftType.True:
      case ThriftType.False:
        return;
      case ThriftType.Byte:
        return this.#byte(Number(value.integer));
      case ThriftType.I16:
      case ThriftType.I32:
      case ThriftType.I64:
        return this.#zigzag(value.integer);
      case ThriftType.Double:
        return this.#put(value.bytes);
      case ThriftType.Binary:
        this.#varint(BigInt(value.bytes.length));
        return this.#put(value.bytes);
      case ThriftType.List:
      case ThriftType.Set: {
        const count = value.items.length;
        this.#byte(Math.min(count, 15) << 4 | value.itemType);
        if (count >= 15) this.#varint(BigInt(count));
        return this.#items(value.items);
      }
      case ThriftType.Map:
        this.#varint(BigInt(value.items.length / 2));
        if (value.items.length > 0) this.#byte(value.types);
        return this.#items(value.items);
      case ThriftType.Struct:
        return this.struct(value.fields);
    }
  }

  #items(items: readonly ThriftValue[]): void {
    for (const item of items) {
      if (item.type === ThriftType.True || item.type === ThriftType.False) this.#byte(item.type);
      else this.#value(item);
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#size++] = byte;
  }

  #put(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  #reserve(length: number): void {
    if (this.#size + length <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#size + length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }

  #varint(value: bigint): void {
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) this.#byte(Number(rest & 127n) | 128);
    this.#byte(Number(rest));
  }

  #zigzag(value: bigint): void {
    this.#varint(BigInt.asUintN(64, value << 1n ^ value >> 63n));
  }
}
