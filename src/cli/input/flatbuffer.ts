/**
 * As much of the FlatBuffers encoding as it takes to read the frame of an Arrow message, without trusting it: every
 * offset is checked.
 *
 * @module
 */

/**
 * A table of a flatbuffer: its fields by their slot.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const bytes = Uint8Array.of(12, 0, 0, 0, 6, 0, 8, 0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 9);
 * assert.ok(rootTable(bytes).uint8(0) === 9);
 * ```
 */
export class FlatTable {
  readonly #view: DataView;
  readonly #at: number;
  readonly #vtable: number;
  readonly #vtableSize: number;

  /** The table at an offset. Throws a RangeError where the offset leads outside. */
  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
    this.#vtable = at - view.getInt32(at, true);
    this.#vtableSize = view.getUint16(this.#vtable, true);
  }

  /** Where the table lies in its buffer. */
  get position(): number {
    return this.#at;
  }

  /** Where a field lies; 0 when it is absent. */
  #field(slot: number): number {
    const entry = 4 + 2 * slot;
    if (entry + 2 > this.#vtableSize) return 0;
    const offset = this.#view.getUint16(this.#vtable + entry, true);
    return offset === 0 ? 0 : this.#at + offset;
  }

  /** An unsigned byte; 0 when absent. */
  uint8(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : this.#view.getUint8(at);
  }

  /** A 16-bit number; 0 when absent. */
  int16(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : this.#view.getInt16(at, true);
  }

  /** A 64-bit number as a double; 0 when absent. */
  int64(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : Number(this.#view.getBigInt64(at, true));
  }

  /** A table that a field refers to. */
  table(slot: number): FlatTable | undefined {
    const at = this.#field(slot);
    return at === 0 ? undefined : new FlatTable(this.#view, at + this.#view.getUint32(at, true));
  }

  /** How many elements a vector has, or bytes a text; throws where they are not all there. */
  count(slot: number, size: number): number {
    return this.#vector(slot, size).count;
  }

  /** The structs of a vector, each as a view of its bytes. */
  structs(slot: number, size: number): DataView[] {
    const { start, count } = this.#vector(slot, size);
    const { buffer, byteOffset } = this.#view;
    return Array.from({ length: count }, (_, index) => new DataView(buffer, byteOffset + start + index * size, size));
  }

  /** The tables of a vector. */
  tables(slot: number): FlatTable[] {
    const { start, count } = this.#vector(slot, 4);
    return Array.from({ length: count }, (_, index) => {
      const at = start + 4 * index;
      return new FlatTable(this.#view, at + this.#view.getUint32(at, true));
    });
  }

  #vector(slot: number, size: number): { readonly start: number; readonly count: number } {
    const field = this.#field(slot);
    if (field === 0) return { start: 0, count: 0 };
    const at = field + this.#view.getUint32(field, true);
    const count = this.#view.getUint32(at, true);
    if (at + 4 + count * size > this.#view.byteLength) throw new RangeError("a vector leads outside of its buffer");
    return { start: at + 4, count };
  }
}

/**
 * The table that a flatbuffer begins with.
 *
 * @param bytes the flatbuffer
 * @returns its root
 * @throws {RangeError} where an offset leads outside
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * try {
 *   rootTable(Uint8Array.of(255, 0, 0, 0));
 * } catch (error) {
 *   assert.ok(error instanceof RangeError);
 * }
 * ```
 */
export function rootTable(bytes: Uint8Array): FlatTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new FlatTable(view, view.getUint32(0, true));
}
