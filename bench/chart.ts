/**
 * The chart of `docs/performance.svg`: rates of the publish suite as shares of the raw socket's.
 *
 * @module
 */

import { titleOf, USUAL } from "./summary.ts";
import type { Result } from "./support/results.ts";

const CASES = [
  [USUAL.publish, "without ids"],
  [`${USUAL.publish}, ids`, "with ids"],
] as const;
const NAMES = ["jetrow", "nats.go", "js.publish"] as const;
const COLOURS = { jetrow: "#2f6fde", "nats.go": "#8a94a6", "js.publish": "#c4cad4" } as const;
const LIMIT = "raw socket";

const WIDTH = 720;
const LEFT = 190;
const RIGHT = 60;
const BAR = 13;
const TOP = 62;

/** A row of the chart: a runtime's bars in one case. */
interface Group {
  readonly label: string;
  readonly bars: readonly (readonly [name: keyof typeof COLOURS, share: number])[];
}

/** Draws the chart. */
export function chart(groups: readonly Group[]): string {
  const parts: string[] = [];
  let y = TOP;
  for (const { label, bars } of groups) {
    parts.push(text(LEFT - 10, y + bars.length * BAR / 2 + 4, label, "end"));
    for (const [name, share] of bars) {
      const width = Math.max(1, share * (WIDTH - LEFT - RIGHT));
      parts.push(
        `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" fill="${COLOURS[name]}"/>`,
      );
      parts.push(text(LEFT + width + 6, y + 10, share.toFixed(2), "start", 11));
      y += BAR;
    }
    y += 14;
  }
  const limit = WIDTH - RIGHT;
  const line = `<line x1="${limit}" y1="${TOP - 8}" x2="${limit}" y2="${y - 8}" stroke="#888" stroke-dasharray="3 3"/>`;
  const legend = NAMES.map((name, i) =>
    `<rect x="${LEFT + i * 110}" y="30" width="11" height="11" fill="${COLOURS[name]}"/>` +
    text(LEFT + 17 + i * 110, 40, name, "start")
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" ` +
    `font-family="system-ui, sans-serif" font-size="12" fill="#444" role="img">`,
    `<title>Rows of 256 bytes per second, as a share of a raw socket's</title>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(LEFT, 18, "Rows of 256 bytes per second, as a share of a raw socket that writes prepared frames", "start", 13),
    ...legend,
    text(limit, TOP - 12, "1.00", "middle", 11),
    line,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function text(x: number, y: number, content: string, anchor: string, size = 12): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${content}</text>`;
}

/** The bars of the publish suite's results. */
export function groupsOf(results: readonly Result[]): Group[] {
  return results.flatMap(({ runtime, lines }) =>
    CASES.map(([name, words]) => ({
      label: `${titleOf(runtime)}, ${words}`,
      bars: NAMES.flatMap((one) => {
        const line = lines.find((each) => each.case === name && each.name === one);
        return line === undefined ? [] : [[one, line.ratios[LIMIT]!] as const];
      }),
    }))
  ).filter(({ bars }) => bars.length > 0);
}
