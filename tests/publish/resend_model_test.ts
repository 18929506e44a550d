import assert from "node:assert/strict";
import fc from "fast-check";
import { isJetrowError, publishAll, type RunReceipt } from "../../mod.ts";
import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  headerOf,
  NO_RESPONDERS,
  type Published,
  refusal,
  streamInfo,
} from "../_support/fake/mod.ts";
import { batchOf, intColumn, textColumn } from "../_support/arrow/mod.ts";
import { type ManualClock, withManualClock } from "../_support/clock.ts";
import { batchRow } from "./_atomic_server.ts";
import { endAck, FastBatches } from "./_fast_server.ts";

const ROWS = 6;
const WINDOW = 20_000;
const TIMEOUT = 2_000;
const MODES = ["individual", "atomic", "fast"] as const;

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

/** A stream that forgets ids after its duplicate window, by the test's clock, and the connections to it. */
class ModelServer {
  /** How often each row is stored. */
  readonly copies = new Map<string, number>();
  noResponders = false;
  silent = false;
  current: FakeConnection | undefined;
  readonly #clock: ManualClock;
  readonly #mode: (typeof MODES)[number];
  readonly #storedAt = new Map<string, number>();
  readonly #staged = new Map<string, Published[]>();
  readonly #fast = new FastBatches((published) => this.#store(published));
  #last = 0;

  constructor(clock: ManualClock, mode: (typeof MODES)[number]) {
    this.#clock = clock;
    this.#mode = mode;
  }

  dial(): FakeConnection {
    const flags = { allow_atomic: true, allow_batched: true, duplicate_window: WINDOW * 1e6 };
    return this.current = fakeConnection({
      manual: true,
      requests: ({ subject, body }) => {
        if (!subject.includes("MSG.GET")) return streamInfo(subject.split(".").at(-1)!, flags);
        void body;
        return new Error("nothing is looked up here");
      },
      answers: (published) => {
        if (this.noResponders) return published.reply === "" ? [] : [NO_RESPONDERS];
        const answers = this.#answer(published);
        return this.silent ? [] : answers;
      },
    });
  }

  #answer(published: Published): readonly Answer[] {
    if (this.#mode === "fast") return this.#fast.answer(published);
    if (this.#mode === "atomic") return this.#atomic(published);
    const sequence = this.#store(published);
    return [{
      body: sequence > 0 ? { stream: "ORDERS", seq: sequence } : { stream: "ORDERS", seq: 1, duplicate: true },
    }];
  }

  #atomic(published: Published): readonly Answer[] {
    const { id, sequence, commit } = batchRow(published);
    const rows = sequence === 1 ? [] : this.#staged.get(id);
    const reply = (answer: Answer): readonly Answer[] => published.reply === "" ? [] : [answer];
    if (rows === undefined || rows.length + 1 !== sequence) return reply(refusal(400, 10176, "batch is incomplete"));
    const all = [...rows, published];
    this.#staged.set(id, all);
    if (!commit) return reply({});
    this.#staged.delete(id);
    if (all.some((row) => this.#knows(row))) return reply(refusal(400, 10201, "batch contains duplicate message id"));
    for (const row of all) this.#store(row);
    return reply(endAck(id, sequence, this.#last));
  }

  #knows(published: Published): boolean {
    const storedAt = this.#storedAt.get(headerOf(published, "Nats-Msg-Id") ?? "");
    return storedAt !== undefined && this.#clock.wall - storedAt < WINDOW;
  }

  /** Stores a row and returns its sequence; 0 for a duplicate. */
  #store(published: Published): number {
    if (this.#knows(published)) return 0;
    const body = new TextDecoder().decode(published.data);
    const id = headerOf(published, "Nats-Msg-Id");
    if (id !== undefined) this.#storedAt.set(id, this.#clock.wall);
    this.copies.set(body, (this.copies.get(body) ?? 0) + 1);
    return ++this.#last;
  }
}

async function play(
  events: readonly Event[],
  mode: (typeof MODES)[number],
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
