import assert from "node:assert/strict";
import type { JournalLine } from "../../src/cli/journal/line.ts";
import { unknownOf, unsettledOf } from "../../src/cli/journal/piece.ts";
import { JournalState } from "../../src/cli/journal/state.ts";

const at = (second: number) => new Date(1_700_000_000_000 + second * 1000).toISOString();
const PLACE = { file: "a.arrow", input: 0, batch: 0, offset: 0, rows: 4 };
const INPUT = { file: "a.arrow", size: 9, resource: "a", stream: "S", subject: "s" };

const run: JournalLine = { kind: "run", journal: 1, time: at(0), jetrow: "0.1.0", inputs: [INPUT], options: {} };
const stream = (second: number, last: number, duplicateWindow = 1000): JournalLine => ({
  kind: "stream",
  time: at(second),
  stream: "S",
  created: at(-9),
  last,
  duplicateWindow,
});
const begin = (second: number, more = {}): JournalLine => ({
  kind: "begin",
  time: at(second),
  ...PLACE,
  bytes: 10,
  crc32c: 7,
  ...more,
});
const outcomes = (second: number, ...pairs: [string, number][]): JournalLine => ({
  kind: "outcomes",
  time: at(second),
  ...PLACE,
  outcomes: pairs,
  sequences: pairs.filter(([word]) => word === "acked").map(([, rows]) => [51, 50 + rows] as const),
});
const receipt = (more = {}): JournalLine => ({
  kind: "receipt",
  time: at(9),
  ...INPUT,
  ...PLACE,
  uri: "nats://S/a",
  bytes: 10,
  crc32c: 7,
  lastSequence: 60,
  ...more,
});

function stateOf(...lines: JournalLine[]): JournalState {
  const state = new JournalState("a.journal");
  lines.forEach((line, i) => state.take(line, i + 1));
  return state;
}

Deno.test("the time of a row of unknown outcome counts from its first possible sending, even if it was resent", () => {
  const unknown = outcomes(3, ["acked", 1], ["unknown", 2], ["unsent", 1]);
  const { pieces: [piece] } = stateOf(run, stream(1, 40), begin(2), unknown, stream(5, 70), begin(6));
  assert.equal(piece!.since, Date.parse(at(2)));
  assert.equal(piece!.after, 40, "they can have been stored before the second run");
  assert.deepEqual(unknownOf(piece!), [1, 2, 3], "what was unsent goes too");
});

Deno.test("the time of a row of known outcome counts from when it is resent", () => {
  const known = outcomes(3, ["acked", 1], ["rejected", 2], ["unsent", 1]);
  const state = stateOf(run, stream(1, 40), begin(2), known);
  assert.deepEqual([unknownOf(state.pieces[0]!), unsettledOf(state.pieces[0]!)], [[], [1, 2, 3]]);
  assert.deepEqual([...state.pieces[0]!.sequences!], [51, 0, 0, 0]);
  state.take(stream(5, 70), 5);
  state.take(begin(6), 6);
  assert.deepEqual([state.pieces[0]!.since, state.pieces[0]!.after], [Date.parse(at(6)), 70]);
});

Deno.test("a piece's rows are stored after every sequence that was known before the piece was begun", () => {
  const next = begin(4, { offset: 4 });
  const state = stateOf(run, stream(1, 40), begin(2), receipt(), next);
  assert.equal(state.pieces[1]!.after, 60);
  assert.deepEqual(unsettledOf(state.pieces[0]!), []);
  const other = stateOf(run, stream(1, 40), begin(2), outcomes(3, ["acked", 4]), next);
  assert.equal(other.pieces[1]!.after, 54);
});

Deno.test("the shortest duplicate window that a stream has had applies", () => {
  const state = stateOf(run, stream(1, 40, 500), stream(2, 41, 9000));
  assert.deepEqual(state.streams.get("S"), { created: at(-9), last: 41, duplicateWindow: 500 });
});

Deno.test("lines in an impossible order are refused with their line number", () => {
  const early = [run, stream(1, 40), begin(2)];
  for (
    const [lines, words] of [
      [[stream(1, 40)], /a\.journal, line 1: a journal has one run line, the first/],
      [[run, run], /line 2: a journal has one run line/],
      [[{ ...run, journal: 2 }], /line 1: a journal of version 2/],
      [[run, begin(1)], /line 2: its stream was not looked up/],
      [[run, stream(1, 1), begin(2, { offset: 4 })], /line 3: it does not follow the piece before it/],
      [[...early, begin(3, { batch: 2 })], /line 4: it does not follow/],
      [[...early, begin(3, { input: 1 })], /line 4: its input is none of the run's/],
      [[...early, begin(3, { crc32c: 8 })], /line 4: the piece is not what it was before/],
      [[...early, receipt({ offset: 4 })], /line 4: a receipt of what was not begun/],
      [[...early, receipt({ rows: 5 })], /line 4: the receipt is not of what was begun/],
      [[...early, receipt({ stream: "T" })], /line 4: the receipt is of another destination/],
      [[...early, receipt(), receipt()], /line 5: a second receipt/],
      [[...early, receipt(), begin(9)], /line 5: it begins what has its receipt already/],
      [[...early, receipt(), outcomes(9, ["acked", 4])], /line 5: outcomes of what has its receipt already/],
      [[...early, outcomes(3, ["acked", 3])], /line 4: its outcomes are not one a row/],
      [[...early, outcomes(3, ["lost", 4])], /line 4: its outcomes are not one a row/],
      [[...early, { ...begin(3), time: "soon" }], /line 4: its time is none/],
      [[run, stream(1, 1), { ...stream(2, 1), created: at(3) }], /line 3: S is another stream than before/],
      [[run, { kind: "more" }], /line 2: a line of kind "more"/],
    ] as const
  ) {
    assert.throws(() => stateOf(...(lines as unknown as JournalLine[])), words);
  }
});
