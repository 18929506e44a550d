/**
 * Writes the last results into `docs/performance.md`, between its marks, and draws the chart beside it.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chart, groups } from "./chart.ts";
import type { Line } from "./support/measure.ts";
import { load, type Result } from "./support/results.ts";
import { short } from "./support/table.ts";

const docs = new URL("../docs/", import.meta.url);
const MARKED = /<!-- bench: (\w+) -->[^]*?<!-- end -->/g;

/** Puts each suite's table between its marks. */
export function report(text: string): string {
  return text.replace(MARKED, (_, suite: string) => `<!-- bench: ${suite} -->\n\n${tablesOf(suite)}\n\n<!-- end -->`);
}

function tablesOf(suite: string): string {
  const results = load(suite);
  const rows = results.flatMap(({ runtime, lines }) => lines.filter(isOurs).map((line) => rowOf(runtime, line)));
  const head = ["case", "what", "runtime", "a second", "client CPU", "server CPU", "beside others"];
  const used = head.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== ""));
  const text = (cells: readonly string[]) => `| ${used.map((i) => cells[i]).join(" | ")} |`;
  return [text(head), text(head.map(() => "---")), ...rows.map(text), "", conditions(results)].join("\n");
}

/** The others are there to be compared with: a row of ours has its ratios to them. */
function isOurs({ suite, name }: Line): boolean {
  return !["encode", "publish", "cases", "window", "file"].includes(suite) || name === "jetrow";
}

function rowOf(runtime: string, line: Line): string[] {
  const micro = (value: number | undefined) => value === undefined ? "" : `${value.toFixed(1)} us`;
  const beside = [
    ...Object.entries(line.ratios).map(([name, ratio]) => `${ratio.toFixed(ratio < 20 ? 2 : 0)} x ${name}`),
    ...Object.entries(line.extra ?? {}).map(([name, value]) => `${name} ${short(value)}`),
  ].join(", ");
  const rate = `${short(line.perSecond)} ${line.unit}`;
  return [line.case, line.name, runtime, rate, micro(line.clientCpu), micro(line.serverCpu), beside];
}

function conditions(results: readonly Result[]): string {
  const each = results.map(({ runtime, version, at, load }) =>
    `${runtime} ${version} at ${at.slice(0, 16)}Z, load ${load[0]} before and ${load[1]} after`
  );
  return `${results[0]?.machine ?? "Not measured"}; ${each.join("; ")}.`;
}

if (import.meta.main) {
  const path = fileURLToPath(new URL("performance.md", docs));
  writeFileSync(path, report(readFileSync(path, "utf8")));
  writeFileSync(fileURLToPath(new URL("performance.svg", docs)), chart(groups()));
}
