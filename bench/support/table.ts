/** Results as a table. */

import type { Line } from "./measure.ts";

/** The lines of one suite as a table in Markdown. */
export function table(lines: readonly Line[]): string {
  const head = ["case", "what", "a second", "client CPU", "server CPU", "ratios"];
  const rows = lines.map((line) => [
    line.case,
    line.name,
    `${short(line.perSecond)} ${line.unit}`,
    line.clientCpu === undefined ? "" : `${line.clientCpu.toFixed(2)} us`,
    line.serverCpu === undefined ? "" : `${line.serverCpu.toFixed(2)} us`,
    [
      ...Object.entries(line.ratios).map(([name, ratio]) => `${ratio.toFixed(2)} x ${name}`),
      ...Object.entries(line.extra ?? {}).map(([name, value]) => `${name} ${short(value)}`),
    ].join(", "),
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)));
  const text = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [text(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(text)].join("\n");
}

/** A number with three digits that mean something. */
export function short(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(value < 10 ? 2 : 0);
}
