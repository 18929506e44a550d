/** A suite's results in few figures. */

import { type Column, markdownTable } from "./support/markdown.ts";
import type { Line } from "./support/measure.ts";
import type { Result } from "./support/results.ts";
import { ratioText, short } from "./support/table.ts";

/** The case of the publish suite, and of the encode suite, that summaries use. */
export const USUAL = { publish: "256 B, file, window 1024", encode: "10 columns" } as const;

/** A figure of one runtime. */
type Figure = readonly [what: string, of: (publish: Line, encode: Line) => string];

const FIGURES: readonly Figure[] = [
  ["rows a second", ({ perSecond }) => short(perSecond)],
  ["share of a raw socket that writes prepared frames", ({ ratios }) => ratioText(ratios["raw socket"])],
  ["times pipelined `js.publish`", ({ ratios }) => ratioText(ratios["js.publish"])],
  ["times nats.go's `PublishMsgAsync`", ({ ratios }) => ratioText(ratios["nats.go"])],
  ["client CPU per row", ({ clientCpu }) => clientCpu === undefined ? "" : `${clientCpu.toFixed(1)} us`],
  ["encoding, times `JSON.stringify`", (_, { ratios }) => ratioText(ratios["JSON.stringify"])],
];

/** The most important figures, one column per runtime. */
export function headline(publish: readonly Result[], encode: readonly Result[]): string {
  const columns = publish.map((result): Column<Figure> => {
    const lines = [
      lineOf(result, USUAL.publish),
      lineOf(encode.find((one) => one.runtime === result.runtime), USUAL.encode),
    ];
    return { head: titleOf(result.runtime), isNumber: true, cell: ([, of]) => of(lines[0]!, lines[1]!) };
  });
  return markdownTable([{ head: "", cell: ([what]) => what }, ...columns], FIGURES);
}

/** The machine, the runtimes and the date. */
export function machineOf(results: readonly Result[]): string {
  const runtimes = results.map(({ runtime, version, arguments: given }) =>
    `${titleOf(runtime)} ${version}${given.includes("--quick") ? " (--quick)" : ""}`
  );
  return `${results[0]!.machine}; ${runtimes.join(", ")}; ${results[0]!.at.slice(0, 10)}.`;
}

function lineOf(result: Result | undefined, name: string): Line {
  const line = result?.lines.find((each) => each.case === name && each.name === "jetrow");
  if (line === undefined) throw new Error(`${result?.suite} on ${result?.runtime} has no case ${name}`);
  return line;
}

/** For each curve the lowest and the highest rate of its points, relative to the first. */
export function growth(results: readonly Result[]): string {
  const curves = [...Map.groupBy(results[0]!.lines, (line) => line.case)].map(([name, lines]) => ({ name, lines }));
  const text = (name: string) => Number(name).toLocaleString("en");
  return markdownTable<typeof curves[number]>([
    { head: "curve", cell: ({ name }) => name },
    { head: "points", cell: ({ lines }) => `${text(lines[0]!.name)} to ${text(lines.at(-1)!.name)}` },
    { head: "rate of", cell: ({ lines }) => lines[0]!.unit },
    ...results.map((result): Column<typeof curves[number]> => ({
      head: titleOf(result.runtime),
      isNumber: true,
      cell: ({ name }) => rangeOf(result.lines.filter((line) => line.case === name)),
    })),
  ], curves);
}

function rangeOf(lines: readonly Line[]): string {
  const ratios = lines.slice(1).map(({ ratios }) => ratios[lines[0]!.name]!);
  return [...new Set([Math.min(...ratios), Math.max(...ratios)])].map(ratioText).join(" to ");
}

/** A runtime's name as a title. */
export function titleOf(runtime: string): string {
  return `${runtime[0]!.toUpperCase()}${runtime.slice(1)}`;
}
