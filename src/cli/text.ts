/**
 * Formats text in columns and paragraphs for a terminal.
 *
 * @module
 */

/** Aligns the cells of rows in columns. */
export function columnsOf(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => widths[i] = Math.max(widths[i] ?? 0, cell.length));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd());
}

/**
 * Wraps a paragraph at a width; the first line begins with `lead`, the others are indented by its length. A word longer
 * than a line gets its own line.
 */
export function wrapParagraph(text: string, lead: string, width: number): string[] {
  const lines: string[] = [];
  let line = lead;
  let empty = true;
  for (const word of text.split(" ")) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = " ".repeat(lead.length);
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line];
}

/** C0, DEL and C1 control characters, line separators, and characters that reverse the direction of text. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Returns one line of text whose characters cannot control a terminal: each unsafe one becomes `\uXXXX`. */
export function visible(text: string): string {
  return text.replace(UNSAFE, escape);
}

/** Escapes as {@linkcode visible} does, but keeps line feeds. In JSON the result has the same value. */
export function visibleLines(text: string): string {
  return text.replace(UNSAFE, (character) => character === "\n" ? character : escape(character));
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
