/**
 * The messages that `jetrow publish --dry-run` shows.
 *
 * @module
 */

import type { PreparedRows } from "../../message/prepared_rows.ts";
import { formatNumber } from "../report.ts";
import { visible } from "../text.ts";

/** The number of bytes of a body that are shown. */
const LONGEST = 2000;

/** The maximum number of subjects that are counted, since each takes some hundred bytes of memory. */
const MOST_COUNTED = 1_000_000;

const decoder = new TextDecoder();

/** Returns a row's message as it would be sent: its subject, its headers, its body. */
export function previewOf(rows: PreparedRows, index: number): string {
  const headers = new Uint8Array(rows.headerBytes(index));
  rows.writeHeaders(index, headers, 0);
  const [, ...lines] = decoder.decode(headers).trimEnd().split("\r\n");
  const body = rows.bytes.subarray(rows.offsets[index], rows.offsets[index + 1]);
  const shown = decoder.decode(body.subarray(0, LONGEST));
  const rest = body.length > LONGEST ? `... (${formatNumber(body.length)} bytes)` : "";
  return [rows.subjectOf(index), ...lines.map((line) => `  ${line}`), "", `  ${shown}${rest}`, ""]
    .map((line) => `${visible(line)}\n`).join("");
}

/** Counts distinct subjects. */
export class SubjectCount {
  readonly #subjects = new Set<string>();
  #hasMore = false;

  /** Counts the subjects of rows. */
  add(rows: PreparedRows): void {
    for (let index = 0; index < rows.count; index++) {
      const subject = rows.subjectOf(index);
      if (this.#subjects.has(subject)) continue;
      if (this.#subjects.size === MOST_COUNTED) this.#hasMore = true;
      else this.#subjects.add(subject);
    }
  }

  /** Returns the number of subjects. */
  get size(): number {
    return this.#subjects.size;
  }

  /** Returns the number of subjects as a phrase. */
  toString(): string {
    const { size } = this.#subjects;
    return this.#hasMore
      ? `more than ${formatNumber(size)} subjects`
      : `${formatNumber(size)} subject${size === 1 ? "" : "s"}`;
  }
}
