/** Markdown tables that are readable as plain text. */

/** A column: its head, a row's cell, and whether the cells are numbers, which are aligned to the right. */
export interface Column<T> {
  readonly head: string;
  readonly isNumber?: boolean;
  cell(row: T): string;
}

/** A table of the columns that have any non-empty cell. */
export function markdownTable<T>(all: readonly Column<T>[], rows: readonly T[]): string {
  const columns = all.filter(({ cell }) => rows.some((row) => cell(row) !== ""));
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const widths = columns.map(({ head }, i) => Math.max(3, head.length, ...cells.map((row) => row[i]!.length)));
  const pad = (text: string, i: number) => columns[i]!.isNumber ? text.padStart(widths[i]!) : text.padEnd(widths[i]!);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = columns.map(({ isNumber }, i) => isNumber ? `${"-".repeat(widths[i]! - 1)}:` : "-".repeat(widths[i]!));
  return [line(columns.map(({ head }, i) => pad(head, i))), line(rule), ...cells.map((row) => line(row.map(pad)))].join(
    "\n",
  );
}

/** Wraps a paragraph at 120 characters. */
export function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= 120) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}
