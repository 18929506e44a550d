/**
 * Writes what the columns of a row put into its subject and its headers, with every refusal before anything is sent.
 *
 * @module
 */

import type { TextColumn } from "../arrow/text_column.ts";
import { EncodeError } from "../errors/mod.ts";
import { option, type Wording, words } from "../errors/wording.ts";
import type { SpareMemory } from "../json/memory/spare.ts";
import type { SubjectEscape } from "../types/mod.ts";
import { subjectFault, tokenFault } from "../subject/name.ts";
import { type RowPlaceholder, type TemplatePart, templateParts } from "../subject/template.ts";
import { copyBytes } from "../util/copy_bytes.ts";
import { describe } from "../util/describe.ts";
import { isUtf8 } from "../util/utf8.ts";

/** Strings of consecutive rows, one after another. String `i` is `bytes[offsets[i], offsets[i + 1])`. */
export interface RowTexts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsets: Uint32Array<ArrayBuffer>;
}

/** Appends bytes. The memory grows as needed. */
export class TextBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  /** Where the next byte goes. */
  end = 0;

  /** Creates a buffer in spare memory, if present, otherwise for about `guess` bytes. */
  constructor(guess: number, spare?: SpareMemory) {
    this.bytes = spare?.take() ?? new Uint8Array(guess);
  }

  /** Appends `source[start, end)`. */
  add(source: Uint8Array, start: number, end: number): void {
    if (this.end + end - start > this.bytes.length) this.#grow(end - start);
    this.end = copyBytes(source, start, end, this.bytes, this.end);
  }

  /** Makes room for `size` more bytes. */
  #grow(size: number): void {
    const larger = new Uint8Array(2 * (this.end + size));
    larger.set(this.bytes.subarray(0, this.end));
    this.bytes = larger;
  }
}

/** Appends the string of one row. */
export type WriteRow = (row: number, to: TextBuffer) => void;

/** What writes the subjects and the header lines of rows; undefined where all rows have the same. */
export interface RowWriters {
  readonly subject: WriteRow | undefined;
  readonly lines: WriteRow | undefined;
}

/** Writes the string of one row to memory of its own; an empty one if all rows have the same. */
export function textOfRow(write: WriteRow | undefined, row: number): Uint8Array {
  const buffer = new TextBuffer(64);
  write?.(row, buffer);
  return buffer.bytes.subarray(0, buffer.end);
}

type Part =
  | { readonly kind: "literal"; readonly bytes: Uint8Array }
  | {
    readonly kind: "row";
    readonly placeholder: RowPlaceholder;
    readonly column: TextColumn;
    readonly fallback: Uint8Array | undefined;
  };

/** The columns of a batch that templates name. */
export type RowValues = ReadonlyMap<string, TextColumn>;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The classes of a value's bytes in a subject: copied, refused or escaped, `%`, which only escaping changes, and bytes of
 * characters beyond ASCII, which have to be decoded.
 */
const PLAIN = 0;
const UNSAFE = 1;
const PERCENT = 2;
const WIDE = 3;
const TOKEN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return WIDE;
  if (byte <= 0x20 || byte === 0x7f || ".*>".includes(String.fromCharCode(byte))) return UNSAFE;
  return byte === 0x25 ? PERCENT : PLAIN;
});

/** What escaping replaces: `%`, the separator and the wildcards of tokens, white space and control characters. */
const UNSAFE_CHARACTERS = /[.*>%\s\p{Cc}]/gu;

/** The first bytes of all prefixes that the server reserves: `$` and `_`. */
const RESERVED_STARTS: readonly number[] = [0x24, 0x5f];

/**
 * Returns a function that writes the subject of a row. It throws an EncodeError `encode.subject` for a value that is not
 * one token, a reserved prefix, and a subject of more than `longest` bytes.
 */
export function subjectWriter(
  template: readonly TemplatePart[],
  values: RowValues,
  escape: SubjectEscape,
  longest: number,
): WriteRow {
  const parts = partsOf(template, values);
  const first = parts.find((part) => part.kind === "row")!.placeholder;
  const [start] = template;
  const fixedPrefix = start!.kind === "literal" && start!.written.includes(".");
  return (row, to) => {
    const from = to.end;
    for (const part of parts) {
      if (part.kind === "literal") to.add(part.bytes, 0, part.bytes.length);
      else writeToken(part, row, escape, to);
    }
    if (!fixedPrefix && RESERVED_STARTS.includes(to.bytes[from]!)) {
      const subject = decoder.decode(to.bytes.subarray(from, to.end));
      const fault = subjectFault(subject);
      if (fault !== undefined) throw subjectError(first, row, `its subject ${fault}: received ${describe(subject)}`);
    }
    if (to.end - from > longest) {
      throw subjectError(
        first,
        row,
        `its subject must have at most ${longest} bytes to fit a command line with the reply subject: it has ${
          to.end - from
        }`,
      );
    }
  };
}

function writeToken(part: Part & { kind: "row" }, row: number, escape: SubjectEscape, to: TextBuffer): void {
  const { placeholder, column, fallback } = part;
  const isNull = !column.seek(row);
  if (isNull || column.end === column.start) {
    if (fallback === undefined) {
      const { written } = placeholder;
      const advice = `Give a fallback, as in ${written.slice(0, -1)}|none}.`;
      throw subjectError(placeholder, row, `the value must not be ${isNull ? "null" : "empty"}. ${advice}`);
    }
    to.add(fallback, 0, fallback.length);
    return;
  }
  const { bytes, start, end } = column;
  const allowed = escape === "percent" ? PLAIN : PERCENT;
  for (let i = start; i < end; i++) {
    const kind = TOKEN_BYTES[bytes[i]!]!;
    if (kind === PLAIN || kind === allowed) continue;
    writeUnusual(part, row, escape, to);
    return;
  }
  to.add(bytes, start, end);
}

/** Writes a value that has other characters than the plain ones. */
function writeUnusual(
  { placeholder, column }: Part & { kind: "row" },
  row: number,
  escape: string,
  to: TextBuffer,
): void {
  const { bytes, start, end } = column;
  if (!isUtf8(bytes, start, end)) throw subjectError(placeholder, row, "the value must be valid UTF-8");
  const value = decoder.decode(bytes.subarray(start, end));
  if (escape === "percent") {
    const escaped = encoder.encode(value.replace(UNSAFE_CHARACTERS, percentEncoded));
    to.add(escaped, 0, escaped.length);
    return;
  }
  const fault = tokenFault(value);
  if (fault !== undefined) {
    const advice = words`Change the value, or set ${option("subjectEscape")} to "percent".`;
    throw subjectError(placeholder, row, words`the value ${fault}: received ${describe(value)}. ${advice}`);
  }
  to.add(bytes, start, end);
}

function percentEncoded(character: string): string {
  return [...encoder.encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

function subjectError({ column }: RowPlaceholder, row: number, fault: string | Wording): EncodeError {
  const message = words`Cannot take the subject of row ${row} from column ${describe(column)}: ${fault}`;
  return new EncodeError("encode.subject", message, { row, column });
}

/**
 * Returns a function that writes the header lines of a row, a line for each header. A header of which a value is null
 * and has no fallback is left out. The function throws an EncodeError `encode.header` for a value that a header cannot
 * have.
 */
export function headerWriter(
  headers: readonly (readonly [name: string, value: string])[],
  values: RowValues,
): WriteRow {
  const lines = headers.map(([name, value]) => {
    const literal = { kind: "literal", written: `${name}: ` } as const;
    return { name, parts: partsOf([literal, ...templateParts(value)], values) };
  });
  return (row, to) => {
    for (const { name, parts } of lines) {
      const start = to.end;
      if (!writeHeader(parts, name, row, to)) {
        to.end = start;
        continue;
      }
      const id = indexOfBytes(to.bytes, start, to.end, ID_HEADER);
      if (id >= 0) throw headerError(name, parts, row, "the value must not contain Nats-Msg-Id");
      to.add(LINE_END, 0, 2);
    }
  };
}

const LINE_END = encoder.encode("\r\n");

/** Servers before 2.11 search the whole header block for it; see the rule of static headers. */
const ID_HEADER = encoder.encode("Nats-Msg-Id");

/** Writes a header without its line end. Returns false if a value is null and has no fallback. */
function writeHeader(parts: readonly Part[], name: string, row: number, to: TextBuffer): boolean {
  for (const part of parts) if (!writeHeaderPart(part, name, row, to)) return false;
  return true;
}

/** Writes a part of a header. Returns false if its value is null and has no fallback. */
function writeHeaderPart(part: Part, name: string, row: number, to: TextBuffer): boolean {
  if (part.kind === "literal") {
    to.add(part.bytes, 0, part.bytes.length);
    return true;
  }
  const { column, fallback } = part;
  const isNull = !column.seek(row);
  if (fallback !== undefined && (isNull || column.end === column.start)) {
    to.add(fallback, 0, fallback.length);
    return true;
  }
  if (isNull) return false;
  const { bytes, start, end } = column;
  let isWide = false;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === 0x0d || byte === 0x0a || byte === 0) {
      const value = describe(decoder.decode(bytes.subarray(start, end)));
      throw headerError(name, [part], row, `the value must not contain CR, LF or NUL: received ${value}`);
    }
    if (byte >= 0x80) isWide = true;
  }
  if (isWide && !isUtf8(bytes, start, end)) throw headerError(name, [part], row, "the value must be valid UTF-8");
  to.add(bytes, start, end);
  return true;
}

function headerError(name: string, parts: readonly Part[], row: number, fault: string): EncodeError {
  const { column } = parts.find((part) => part.kind === "row")!.placeholder;
  const message = `Cannot take header ${describe(name)} of row ${row} from column ${describe(column)}: ${fault}`;
  return new EncodeError("encode.header", message, { row, column });
}

function partsOf(template: readonly TemplatePart[], values: RowValues): readonly Part[] {
  return template.map((part) => {
    if (part.kind !== "row") return { kind: "literal", bytes: encoder.encode(part.written) };
    const fallback = part.fallback === undefined ? undefined : encoder.encode(part.fallback);
    return { kind: "row", placeholder: part, column: values.get(part.column)!, fallback };
  });
}

function indexOfBytes(bytes: Uint8Array, start: number, end: number, wanted: Uint8Array): number {
  for (let at = start; at <= end - wanted.length; at++) {
    if (bytes[at] !== wanted[0]) continue;
    let same = 1;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  return -1;
}
