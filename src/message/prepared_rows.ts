/**
 * Rows that are ready to be sent: bodies, header blocks, ids and sizes.
 *
 * @module
 */

import { ID_LENGTH } from "../hash/message_id.ts";
import { crc32c } from "../hash/crc32c.ts";
import type { Bodies } from "../json/row_encoder.ts";
import type { PieceMemory } from "../json/memory/spare.ts";
import { copyBytes } from "../util/copy_bytes.ts";
import type { Steps } from "../util/steps.ts";
import type { HeaderBlock } from "./headers.ts";
import type { RowSource } from "./ids.ts";
import type { RowTexts } from "./row_texts.ts";
import type { MessageTarget } from "./target.ts";

/** What the columns of rows put into their messages beside the body; absent where all rows have the same. */
export interface RowParts {
  /** The subjects. */
  readonly subjects?: RowTexts | undefined;
  /** The header lines. */
  readonly lines?: RowTexts | undefined;
}

const decoder = new TextDecoder();
const NOTHING = new Uint8Array(0);
const NO_OFFSETS = new Uint32Array(0);

/** Bytes that one step goes over: less than a millisecond's work. */
const CHECKED = 1 << 20;

/** Rows ready to be sent. */
export class PreparedRows {
  /** Where they go. */
  readonly target: MessageTarget;
  /** Index of the first among the selected rows of the batch. */
  readonly from: number;
  /** How many rows. */
  readonly count: number;
  /** The subjects of all rows in UTF-8, or the one that all of them have. */
  subjectBytes: Uint8Array;
  /** All bodies; empty after {@linkcode release}. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Where each body begins; empty after {@linkcode free}. */
  offsets: Uint32Array<ArrayBuffer>;
  readonly #memory: PieceMemory | undefined;
  #totalSize: number | undefined;
  #crc32c: number | undefined;
  readonly #only: readonly number[] | undefined;
  readonly #variants: number | Uint8Array;
  /** The subject of each row; undefined if all rows have one subject. */
  #subjects: RowTexts | undefined;
  /** The header lines of each row; undefined if all rows have the same headers. */
  #lines: RowTexts | undefined;
  #ids: Uint8Array<ArrayBuffer> | undefined;

  /** Rows, encoded and checked. */
  constructor(
    target: MessageTarget,
    source: RowSource,
    from: number,
    encoded: Bodies,
    variants: number | Uint8Array,
    parts: RowParts,
    ids: Uint8Array<ArrayBuffer> | undefined,
    memory: PieceMemory | undefined,
  ) {
    this.target = target;
    this.subjectBytes = parts.subjects?.bytes ?? target.subjectBytes;
    this.#subjects = parts.subjects;
    this.#lines = parts.lines;
    this.from = from;
    this.count = encoded.offsets.length - 1;
    this.bytes = encoded.bytes;
    this.offsets = encoded.offsets;
    this.#only = source.only;
    this.#variants = variants;
    this.#ids = ids;
    this.#memory = memory;
  }

  /** CRC32C over all bodies; computed on first reading. */
  get crc32c(): number {
    return this.#crc32c ??= crc32c(this.bytes);
  }

  /** Computes the checksum. */
  *checksum(): Steps<void> {
    let crc = 0;
    for (let at = 0; at < this.bytes.length; at += CHECKED) {
      if (at > 0) yield;
      crc = crc32c(this.bytes.subarray(at, at + CHECKED), crc);
    }
    this.#crc32c = crc;
  }

  /** Releases the bodies, which will not be sent again; lengths and checksum stay. */
  release(): void {
    this.#crc32c = this.crc32c;
    this.#memory?.bodies?.give(this.bytes);
    this.bytes = NOTHING;
  }

  /** Releases lengths and ids, too: no row is needed any more. */
  free(): void {
    this.release();
    this.#memory?.offsets.give(this.offsets);
    this.offsets = NO_OFFSETS;
    if (this.#ids !== undefined) this.#memory?.ids.give(this.#ids);
    this.#ids = undefined;
    if (this.#subjects !== undefined) this.#memory?.subjects.give(this.#subjects);
    this.#subjects = undefined;
    this.subjectBytes = NOTHING;
    if (this.#lines !== undefined) this.#memory?.lines.give(this.#lines);
    this.#lines = undefined;
  }

  /** Bytes of all bodies. */
  get bodyBytes(): number {
    return this.offsets[this.count]!;
  }

  /** The row number in the batch of the `index`th row here. */
  rowNumber(index: number): number {
    return this.#only === undefined ? this.from + index : this.#only[this.from + index]!;
  }

  /** Where a row's subject begins in {@linkcode subjectBytes}. */
  subjectStart(index: number): number {
    return this.#subjects === undefined ? 0 : this.#subjects.offsets[index]!;
  }

  /** Where a row's subject ends. */
  subjectEnd(index: number): number {
    return this.#subjects === undefined ? this.subjectBytes.length : this.#subjects.offsets[index + 1]!;
  }

  /** A row's subject. */
  subjectOf(index: number): string {
    if (this.#subjects === undefined) return this.target.fields.subject;
    return decoder.decode(this.subjectBytes.subarray(this.subjectStart(index), this.subjectEnd(index)));
  }

  /** Bytes of a row's header block. */
  headerBytes(index: number): number {
    return this.#blockOf(index).bytes.length + this.#lineBytes(index);
  }

  /** Writes a row's header block with its id. Returns the position after it. */
  writeHeaders(index: number, to: Uint8Array, at: number): number {
    const { bytes, idAt, linesAt } = this.#blockOf(index);
    to.set(bytes, at);
    let end = at + bytes.length;
    if (this.#lines !== undefined) {
      const { bytes: lines, offsets } = this.#lines;
      const linesEnd = copyBytes(lines, offsets[index]!, offsets[index + 1]!, to, at + linesAt);
      end = copyBytes(bytes, linesAt, bytes.length, to, linesEnd);
    }
    if (idAt >= 0) this.#writeId(index, to, end - bytes.length + idAt);
    return end;
  }

  #blockOf(index: number): HeaderBlock {
    return this.target.block(typeof this.#variants === "number" ? this.#variants : this.#variants[index]!);
  }

  #lineBytes(index: number): number {
    return this.#lines === undefined ? 0 : this.#lines.offsets[index + 1]! - this.#lines.offsets[index]!;
  }

  /** Whether a row carries an id. */
  hasId(index: number): boolean {
    return this.#ids !== undefined && this.#blockOf(index).idAt >= 0;
  }

  /** Whether any row carries an id. */
  get hasIds(): boolean {
    return this.#ids !== undefined;
  }

  /** Whether every row carries an id. */
  get allHaveIds(): boolean {
    for (let i = 0; i < this.count; i++) if (!this.hasId(i)) return false;
    return true;
  }

  #writeId(index: number, to: Uint8Array, at: number): void {
    const ids = this.#ids!;
    const from = index * ID_LENGTH;
    for (let i = 0; i < ID_LENGTH; i++) to[at + i] = ids[from + i]!;
  }

  /** A row's id as text. */
  idText(index: number): string {
    return String.fromCharCode(...this.#ids!.subarray(index * ID_LENGTH, (index + 1) * ID_LENGTH));
  }

  /** What a row counts in the window: header block, payload and subject. */
  sizeOf(index: number): number {
    const { batchHeaderBytes } = this.target.fields;
    const more = batchHeaderBytes === undefined ? 0 : batchHeaderBytes(index, index === this.count - 1);
    return this.headerBytes(index) + more + this.offsets[index + 1]! - this.offsets[index]! +
      this.subjectEnd(index) - this.subjectStart(index);
  }

  /** What all rows count in the window together; summed up on first reading. */
  get totalSize(): number {
    return this.#totalSize ??= this.sizeOfRange(0, this.count);
  }

  /** What rows count in the window together. */
  sizeOfRange(from: number, to: number): number {
    let size = 0;
    for (let i = from; i < to; i++) size += this.sizeOf(i);
    return size;
  }

  /** What the largest row counts in the window. */
  largestRow(): number {
    let largest = 0;
    for (let i = 0; i < this.count; i++) largest = Math.max(largest, this.sizeOf(i));
    return largest;
  }

  /** The largest row as the server counts it: header block and payload. */
  largestMessage(): number {
    let largest = 0;
    for (let i = 0; i < this.count; i++) {
      largest = Math.max(largest, this.sizeOf(i) - this.subjectEnd(i) + this.subjectStart(i));
    }
    return largest;
  }
}
