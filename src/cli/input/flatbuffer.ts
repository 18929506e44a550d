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

  /** The structs of a vector, each as a view of its bytes. */
  structs(slot: number, size: number): DataView[] {
    const field = this.#field(slot);
    if (field === 0) return [];
    const at = field + this.#view.getUint32(field, true);
    const count = this.#view.getUint32(at, true);
    if (count * size > this.#view.byteLength) throw new RangeError("a vector is longer than its buffer");
    const { buffer, byteOffset, byteLength } = this.#view;
    return Array.from({ length: count }, (_, index) => {
      const start = at + 4 + index * size;
      if (start + size > byteLength) throw new RangeError("a vector leads outside of its buffer");
      return new DataView(buffer, byteOffset + start, size);
    });
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
