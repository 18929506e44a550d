import assert from "node:assert/strict";
import fc from "fast-check";
import { isJetrowError, publishAll, type RunReceipt } from "../../mod.ts";
import { type FakeConnection, fakeConnection, NO_RESPONDERS, streamInfo } from "../_support/fake/mod.ts";
import { batchOf, intColumn, textColumn } from "../_support/arrow/mod.ts";
import { type ManualClock, withManualClock } from "../_support/clock.ts";
import { type Mode, ModelStream, MODES } from "./_model_stream.ts";

const ROWS = 6;
const WINDOW = 20_000;
const TIMEOUT = 2_000;

/** The next event; events occur in any order. */
type Event =
  | { readonly kind: "deliver"; readonly count: number }
  | { readonly kind: "pass"; readonly time: number }
  | { readonly kind: "suspend"; readonly time: number }
  | { readonly kind: "lose" }
  | { readonly kind: "noResponders"; readonly is: boolean }
  | { readonly kind: "silent"; readonly is: boolean };

const EVENTS: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 8 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 9_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("suspend" as const), time: fc.integer({ min: 1, max: 60_000 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("noResponders" as const), is: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("silent" as const), is: fc.boolean() }) },
  ),
  { maxLength: 40 },
);

/** The connections to one server. */
class ModelServer {
  noResponders = false;
  silent = false;
  current: FakeConnection | undefined;
  readonly #stream: ModelStream;

  constructor(clock: ManualClock, mode: Mode) {
    this.#stream = new ModelStream(mode, WINDOW, () => clock.wall);
  }

  /** How often each row is stored. */
  get copies(): ReadonlyMap<string, number> {
    const copies = new Map<string, number>();
    for (const body of this.#stream.bodies) copies.set(body, (copies.get(body) ?? 0) + 1);
    return copies;
  }

  dial(): FakeConnection {
    const flags = { allow_atomic: true, allow_batched: true, duplicate_window: WINDOW * 1e6 };
    return this.current = fakeConnection({
      manual: true,
      requests: ({ subject }) =>
        subject.includes("MSG.GET")
          ? new Error("nothing is looked up here")
          : streamInfo(subject.split(".").at(-1)!, flags),
      answers: (published) => {
        if (this.noResponders) return published.reply === "" ? [] : [NO_RESPONDERS];
        const answers = this.#stream.answer(published);
        return this.silent ? [] : answers;
      },
    });
  }
}

async function play(
  events: readonly Event[],
  mode: Mode,
  ids: boolean,
  retry: boolean,
): Promise<void> {
  await withManualClock(async (clock) => {
    const server = new ModelServer(clock, mode);
    const numbers = Array.from({ length: ROWS }, (_, i) => i);
    const columns = ids ? [textColumn("_filament_event_id", numbers.map((n) => `id ${n}`))] : [];
    const batch = { resource: "eu", rows: batchOf([...columns, intColumn("n", numbers)]) };
    const options = {
      stream: "ORDERS",
      subject: "orders.{resource}",
      publishMode: mode,
      publishTimeout: TIMEOUT,
      maxInFlight: 4,
      ...(retry ? { retry: { budget: WINDOW - TIMEOUT } } : {}),
    };
    let ending: { readonly receipt?: RunReceipt; readonly error?: unknown } | undefined;
    publishAll(() => Promise.resolve(server.dial().nc), options, [batch], { budget: 60_000, batchMaxRows: 4 }).then(
      (receipt) => ending = { receipt },
      (error) => ending = { error },
    );
    for (const event of events) {
      await clock.settle();
      if (event.kind === "deliver") server.current?.deliver(event.count);
      if (event.kind === "pass") await clock.advance(event.time);
      if (event.kind === "suspend") clock.suspend(event.time);
      if (event.kind === "lose") server.current?.lose(new Error("the link is cut"));
      if (event.kind === "noResponders") server.noResponders = event.is;
      if (event.kind === "silent") server.silent = event.is;
    }
    server.noResponders = server.silent = false;
    for (let i = 0; i < 400 && ending === undefined; i++) {
      server.current?.deliver();
      await clock.advance(500);
    }
    assert.ok(ending !== undefined, "it ends");
    const twice = [...server.copies.values()].filter((copies) => copies > 1).length;
    if (ending.receipt !== undefined) {
      assert.equal(ending.receipt.rows, ROWS);
      assert.equal(server.copies.size, ROWS, "every row is stored");
      assert.equal(twice, 0, "no row is stored twice and reported as published");
    } else {
      const { error } = ending;
      assert.ok(isJetrowError(error), String(error));
      if (error.name !== "PublishError") return assert.equal(twice, 0);
      const { counts } = error.rowOutcomes;
      assert.ok(twice <= counts.unknown, `${twice} rows are stored twice, and ${counts.unknown} of unknown outcome`);
      const stored = new Set([...server.copies.keys()].map((body) => JSON.parse(body).n as number));
      for (const row of numbers) {
        const outcome = error.rowOutcomes.at(row);
        assert.ok(
          !stored.has(row) || !["rejected", "unsent"].includes(outcome),
          `row ${row} is stored, not ${outcome}`,
        );
      }
    }
  });
}

for (const mode of MODES) {
  Deno.test(`no row is stored twice and reported as published, whatever happens: ${mode}`, async () => {
    await fc.assert(
      fc.asyncProperty(EVENTS, fc.boolean(), fc.boolean(), (events, ids, retry) => play(events, mode, ids, retry)),
      { numRuns: 150 },
    );
  });
}

Deno.test("rows of unknown outcome are not resent after a suspension longer than the duplicate window", async () => {
  await play(
    [
      { kind: "silent", is: true },
      { kind: "deliver", count: 8 },
      { kind: "pass", time: 10 },
      { kind: "suspend", time: 60_000 },
      { kind: "lose" },
    ],
    "individual",
    true,
    false,
  );
});
