import assert from "node:assert/strict";
import { report } from "../bench/report.ts";
import { headline, machineOf } from "../bench/summary.ts";
import { added, type Bench, compare, type Line } from "../bench/support/measure.ts";
import type { Result } from "../bench/support/results.ts";
import { type RuntimeLine, table } from "../bench/support/table.ts";
import { everyType } from "../bench/support/type_columns.ts";
import { encodeRows } from "../src/json/encode.ts";

function lineOf(name: string, ratios: Record<string, number>, more: Partial<RuntimeLine> = {}): RuntimeLine {
  return { suite: "s", case: "c", name, unit: "rows", perSecond: 1e5, ratios, runtime: "deno", ...more };
}

function resultOf(suite: string, runtime: string, lines: readonly Line[], given: readonly string[] = []): Result {
  const at = "2026-11-30T00:08:59Z";
  return { suite, runtime, version: "1.2.3", machine: "2 x CPU", at, load: [1, 2], arguments: given, lines };
}

/** A table's cells, without the padding. */
function cellsOf(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("|") && !/^[|\s:-]+$/.test(line));
  return rows.map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim()));
}

Deno.test("table() has a column for each alternative to jetrow, and jetrow's own row only on request", () => {
  const lines = [
    lineOf("jetrow", { "raw socket": 0.5, "js.publish": 20.4 }, { clientCpu: 1.25, serverCpu: 6 }),
    lineOf("raw socket", { jetrow: 2, "js.publish": 40 }),
  ];
  assert.deepEqual(cellsOf(table(lines)), [
    ["case", "a second", "x raw socket", "x js.publish", "client CPU", "server CPU"],
    ["c", "100 k rows", "0.50", "20.4", "1.3 us", "6.0 us"],
  ]);
  assert.deepEqual(cellsOf(table(lines, { others: true })).map((row) => row.slice(1, 5)), [
    ["what", "a second", "x raw socket", "x js.publish"],
    ["jetrow", "100 k rows", "0.50", "20.4"],
    ["raw socket", "100 k rows", "", ""],
  ]);
});

Deno.test("report() leaves a table unchanged when a runtime's result is missing", () => {
  const text = "a\n\n<!-- bench: publish -->\n\nold\n\n<!-- end -->\n\nb\n\n<!-- bench: workerd -->\n<!-- end -->\n";
  const result = resultOf("publish", "deno", [lineOf("jetrow", {})], ["--quick"]);
  const said: string[] = [];
  const one = report(text, (suite) => suite === "publish" ? [result] : [], (line) => said.push(line));
  assert.equal(one, text);
  assert.deepEqual(said.map((line) => line.split(" ")[0]), ["publish", "workerd"]);
  const all = ["deno", "bun", "node"].map((runtime) => ({ ...result, runtime }));
  const whole = report(text, (suite) => suite === "publish" ? all : [result], () => {});
  assert.ok(!whole.includes("old") && whole.startsWith("a\n\n<!-- bench: publish -->\n\n| case"), whole);
  assert.ok(whole.includes("2 x CPU; deno 1.2.3 at 2026-11-30T00:08Z, --quick, load 1 before and 2 after;"), whole);
  assert.match(whole, /<!-- bench: workerd -->\n\n\| case [^]*\n\n<!-- end -->\n$/);
});

Deno.test("headline() has a column per runtime, and refuses results without the usual case", () => {
  const usual = lineOf("jetrow", { "raw socket": 0.9, "js.publish": 3.81, "nats.go": 1.2 }, {
    case: "256 B, file, window 1024",
    clientCpu: 1.9,
  });
  const encoded = resultOf("encode", "deno", [lineOf("jetrow", { "JSON.stringify": 16.7 }, { case: "10 columns" })]);
  const cells = cellsOf(headline([resultOf("publish", "deno", [usual])], [encoded]));
  assert.deepEqual(cells.map(([, value]) => value), ["Deno", "100 k", "0.90", "3.81", "1.20", "1.9 us", "16.7"]);
  assert.equal(machineOf([resultOf("publish", "deno", [])]), "2 x CPU; Deno 1.2.3; 2026-11-30.");
  assert.throws(() => headline([resultOf("publish", "bun", [usual])], [encoded]), /has no case 10 columns/);
});

Deno.test("added() combines several measurements into one, without CPU time if one has none", () => {
  const sample = { count: 10, seconds: 0.5, clientCpu: 3, serverCpu: 4 };
  assert.deepEqual(added([sample, { ...sample, serverCpu: undefined }]), {
    count: 20,
    seconds: 1,
    clientCpu: 6,
    serverCpu: undefined,
  });
});

Deno.test("compare() takes ratios within the same round, and warms up cases that are not warm", async () => {
  const lines: Line[] = [];
  const bench: Bench = {
    quick: false,
    rounds: 3,
    only: [],
    warmUp: 1,
    emit: (line) => void lines.push(line),
    say: () => {},
  };
  const calls = { a: 0, b: 0 };
  // Both become slower from round to round; a stays twice as fast.
  const a = { name: "a", run: () => ({ count: 100, seconds: ++calls.a === 1 ? 1 : calls.a, clientCpu: 30 }) };
  const b = { name: "b", isWarm: true, run: () => ({ count: 100, seconds: 2 * (++calls.b + 1), clientCpu: 60 }) };
  await compare(bench, { suite: "s", case: "c", unit: "rows" }, [a, b]);
  assert.deepEqual(calls, { a: 4, b: 3 });
  assert.deepEqual(lines.map(({ name, ratios }) => [name, ratios]), [["a", { b: 2 }], ["b", { a: 0.5 }]]);
  assert.deepEqual(lines.map(({ clientCpuRatios }) => clientCpuRatios), [{ b: 0.5 }, { a: 2 }]);
  assert.equal(lines[0]!.perSecond, 100 / 3);
});

Deno.test("everyType() has columns with distinct names that the encoder accepts", () => {
  const all = everyType(9);
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  const bodies = all.map(({ rows }) => {
    const { bytes, offsets } = encodeRows(rows);
    return [offsets.length - 1, new TextDecoder().decode(bytes.subarray(0, offsets[1]))] as const;
  });
  for (const [i, [rows, text]] of bodies.entries()) {
    assert.equal(rows, 9, all[i]!.name);
    assert.deepEqual(Object.keys(JSON.parse(text)), ["c"], all[i]!.name);
  }
  // Columns with metadata are written by their logical type, not by their storage type.
  const textOf = (name: string) => bodies[all.findIndex((each) => each.name === name)]![1];
  assert.match(textOf("utf8, json"), /^\{"c":\{"id":/);
  assert.match(textOf("utf8, decimal"), /^\{"c":\d+\.25\}$/);
  assert.match(textOf("uuid"), /^\{"c":"[0-9a-f]{8}-/);
});
