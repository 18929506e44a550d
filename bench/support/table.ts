/** Results as tables. */

import { type Column, markdownTable } from "./markdown.ts";
import type { Line } from "./measure.ts";

/** A line and its runtime. */
export interface RuntimeLine extends Line {
  readonly runtime: string;
}

/** Selects the lines of a table. */
export interface TableOptions {
  /** Whether the alternatives to jetrow have lines too. @default {false} */
  readonly others?: boolean;
}

/**
 * The lines of a suite, case by case, with one column for each contender that rates are compared with: jetrow is
 * compared with all others; if no contender is named jetrow, all are compared with the first.
 */
export function table(lines: readonly RuntimeLine[], { others = false }: TableOptions = {}): string {
  if (lines[0]?.suite === "types") return typesTable(lines);
  const groups = groupsOf(lines);
  const rows = groups.flatMap((group) =>
    group.lines.filter(({ name }) => others || !group.hasJetrow || isJetrow(name))
      .map((line) => ({ line, ratios: ratiosOf(line, group) }))
  );
  const columns: Column<typeof rows[number]>[] = [
    { head: "case", cell: ({ line }) => line.case },
    ...when(manyOf(rows, ({ line }) => line.name), { head: "what", cell: ({ line }) => nameText(line.name) }),
    ...when(manyOf(rows, ({ line }) => line.runtime), { head: "runtime", cell: ({ line }) => line.runtime }),
    { head: "a second", isNumber: true, cell: ({ line }) => `${short(line.perSecond)} ${line.unit}` },
    ...headsOf(rows.map(({ ratios }) => [...ratios.keys()])).map((name): Column<typeof rows[number]> => ({
      head: `x ${name}`,
      isNumber: true,
      cell: ({ ratios }) => ratioText(ratios.get(name)),
    })),
    { head: "client CPU", isNumber: true, cell: ({ line }) => microText(line.clientCpu) },
    { head: "server CPU", isNumber: true, cell: ({ line }) => microText(line.serverCpu) },
    ...headsOf(rows.map(({ line }) => Object.keys(line.extra ?? {}))).map((name): Column<typeof rows[number]> => ({
      head: name,
      isNumber: true,
      cell: ({ line }) => line.extra?.[name] === undefined ? "" : short(line.extra[name]),
    })),
  ];
  return markdownTable(columns, rows);
}

/** A case on a runtime. */
interface Group {
  readonly lines: readonly RuntimeLine[];
  readonly hasJetrow: boolean;
  /** The name of the first contender in a column's head. */
  readonly first: string;
}

/** Cases in order, and the runtimes of each in order. */
function groupsOf(lines: readonly RuntimeLine[]): Group[] {
  const by = Map.groupBy(lines, (line) => line.case);
  const groups = [...by.values()].flatMap((each) => [...Map.groupBy(each, ({ runtime }) => runtime).values()]);
  const firsts = new Set(groups.map(([first]) => first!.name));
  return groups.map((group) => ({
    lines: group,
    hasJetrow: group.some(({ name }) => isJetrow(name)),
    first: firsts.size === 1 ? group[0]!.name : "the first",
  }));
}

function ratiosOf(line: RuntimeLine, { lines, hasJetrow, first }: Group): ReadonlyMap<string, number> {
  if (hasJetrow) {
    const others = Object.entries(line.ratios).filter(([name]) => !isJetrow(name));
    return new Map(isJetrow(line.name) ? others : []);
  }
  return lines.length === 1 ? new Map() : new Map([[first, line.ratios[lines[0]!.name] ?? 1]]);
}

function isJetrow(name: string): boolean {
  return /^jetrow\b/.test(name);
}

/** One row per type: the cost of a row on each runtime, and how much more `JSON.stringify` takes. */
function typesTable(lines: readonly RuntimeLine[]): string {
  const ours = lines.filter(({ name }) => isJetrow(name));
  const runtimes = headsOf(ours.map(({ runtime }) => [runtime]));
  const rows = [...Map.groupBy(ours, (line) => line.case)];
  return markdownTable<typeof rows[number]>([
    { head: "type", cell: ([type]) => type },
    ...runtimes.flatMap((runtime): Column<typeof rows[number]>[] => {
      const of = (all: readonly RuntimeLine[]) => all.find((line) => line.runtime === runtime);
      return [
        { head: `${runtime}, ns`, isNumber: true, cell: ([, all]) => nanoText(of(all)) },
        { head: "x JSON.stringify", isNumber: true, cell: ([, all]) => ratioText(of(all)?.ratios["JSON.stringify"]) },
      ];
    }),
  ], rows);
}

/** All names, in order of first appearance. */
function headsOf(names: readonly (readonly string[])[]): string[] {
  return [...new Set(names.flat())];
}

function manyOf<T>(rows: readonly T[], value: (row: T) => string): boolean {
  return new Set(rows.map(value)).size > 1;
}

function when<T>(isSo: boolean, column: Column<T>): Column<T>[] {
  return isSo ? [column] : [];
}

/** Names of points of a curve are numbers. */
function nameText(name: string): string {
  return /^\d+$/.test(name) ? Number(name).toLocaleString("en") : name;
}

function microText(value: number | undefined): string {
  return value === undefined ? "" : `${value.toFixed(value < 0.95 ? 2 : 1)} us`;
}

function nanoText(line: RuntimeLine | undefined): string {
  return line === undefined ? "" : (1e9 / line.perSecond).toFixed(0);
}

/** A ratio, with three digits. */
export function ratioText(value: number | undefined): string {
  return value === undefined ? "" : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

/** A number with three significant digits. */
export function short(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(value < 10 ? 2 : 0);
}
