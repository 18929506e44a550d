/**
 * Writes the last results between the marks of `docs/performance.md` and `README.md`, and draws the chart. Tables of
 * suites that were not measured on this machine stay unchanged.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { chart, groupsOf } from "./chart.ts";
import { growth, headline, machineOf } from "./summary.ts";
import { load, once, type Result, RUNTIMES } from "./support/results.ts";
import { wrapped } from "./support/markdown.ts";
import { table } from "./support/table.ts";

/** Finds the last results of a suite. */
export type Load = (suite: string) => readonly Result[];

const MARKED = /<!-- bench: (\w+) -->[^]*?<!-- end -->/g;

/** Puts each suite's table between its marks; prints which tables it leaves unchanged. */
export function report(text: string, load: Load, say: (text: string) => void): string {
  return text.replace(MARKED, (whole, name: string) => {
    const made = sectionOf(name, load);
    if (made === undefined) say(`${name} stays as it stands: it was not measured on all of ${RUNTIMES.join(", ")}`);
    return made === undefined ? whole : `<!-- bench: ${name} -->\n\n${made}\n\n<!-- end -->`;
  });
}

function sectionOf(name: string, load: Load): string | undefined {
  if (name === "headline") {
    const [publish, encode] = [resultsOf("publish", load), resultsOf("encode", load)];
    return publish && encode && `${headline(publish, encode)}\n\n${wrapped(machineOf(publish))}`;
  }
  if (name === "growth") {
    const results = resultsOf("curves", load);
    return results && growth(results);
  }
  const results = resultsOf(name, load);
  return results && `${table(results.flatMap(linesOf))}\n\n${wrapped(conditions(results))}`;
}

/** The results on all runtimes; undefined if one is missing. */
function resultsOf(suite: string, load: Load): readonly Result[] | undefined {
  const results = load(suite);
  return results.length < (once.has(suite) ? 1 : RUNTIMES.length) ? undefined : results;
}

function linesOf({ runtime, lines }: Result) {
  return lines.map((line) => ({ ...line, runtime }));
}

function conditions(results: readonly Result[]): string {
  const each = results.map(({ runtime, version, at, load, arguments: given }) => {
    const how = given.includes("--quick") ? ", --quick" : "";
    return `${runtime} ${version} at ${at.slice(0, 16)}Z${how}, load ${load[0]} before and ${load[1]} after`;
  });
  return `${results[0]!.machine}; ${each.join("; ")}.`;
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  for (const name of ["docs/performance.md", "README.md"]) {
    const path = new URL(name, root);
    writeFileSync(path, report(readFileSync(path, "utf8"), load, say));
  }
  const publish = resultsOf("publish", load);
  if (publish !== undefined) writeFileSync(new URL("docs/performance.svg", root), chart(groupsOf(publish)));
}
