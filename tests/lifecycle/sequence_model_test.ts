/**
 * Sequences across lost connections, aborts, and errors of the source and of `onReceipt`: receipts are of whole pieces
 * in order, and the error and the log agree with the stream.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { isJetrowError, type RowBatch, type WriteReceipt } from "../../mod.ts";
import { crc32c } from "../../src/hash/crc32c.ts";
import { publishSequence } from "../../src/lifecycle/publish_all.ts";
import type { BegunPiece, LeftPiece, PieceLog } from "../../src/lifecycle/sequence/piece_log.ts";
import { isAcknowledged, OUTCOMES } from "../../src/publish/outcomes.ts";
import { resolvePublishAll } from "../../src/options/calls.ts";
import { batchOf, intColumn, textColumn } from "../_support/arrow/mod.ts";
import { type ManualClock, withManualClock } from "../_support/clock.ts";
import {
  type FakeConnection,
  fakeConnection,
  NO_RESPONDERS,
  type Published,
  streamInfo,
} from "../_support/fake/mod.ts";
import { type Mode, ModelStream, MODES } from "../publish/_model_stream.ts";

const event = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("deliver"), count: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pass"), count: fc.integer({ min: 1, max: 3000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("lose"), count: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("silent", "noResponders", "full"), count: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort"), count: fc.nat(20) }) },
);

const scene = fc.record({
  batches: fc.array(fc.nat(7), { maxLength: 4 }),
  batchMaxRows: fc.integer({ min: 1, max: 4 }),
  ids: fc.boolean(),
  retry: fc.boolean(),
  frames: fc.boolean(),
  logged: fc.boolean(),
  maxInFlight: fc.integer({ min: 1, max: 6 }),
  /** The number of the receipt for which `onReceipt` throws, and of the batch in whose place the source does. */
  receiptFails: fc.option(fc.nat(6), { nil: undefined, freq: 4 }),
  sourceFails: fc.option(fc.nat(3), { nil: undefined, freq: 4 }),
  events: fc.array(event, { maxLength: 40, size: "max" }),
});

type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

/** What a piece's log has noted. */
class Log implements PieceLog {
  readonly begun: BegunPiece[] = [];
  left_: readonly LeftPiece[] | undefined;

  begin(piece: BegunPiece): Promise<void> {
    this.begun.push(piece);
    return Promise.resolve();
  }

  left(pieces: readonly LeftPiece[]): void {
    assert.equal(this.left_, undefined, "left() is called once");
    // Copies: the codes of a piece may be in memory that is used again.
    this.left_ = pieces.map((piece) => ({ ...piece, codes: piece.codes.slice() }));
  }
}

class Play {
  readonly #scene: Scene;
  readonly #clock: ManualClock;
  readonly #mode: Mode;
  readonly #stream: ModelStream;
  readonly #abort = new AbortController();
  readonly #receipts: WriteReceipt[] = [];
  readonly #log = new Log();
  readonly #starts: readonly number[];
  readonly #set = { silent: false, noResponders: false, full: false };
  #current: FakeConnection | undefined;
  #isOver = false;
  /** How often the source has ended: by itself, by an error of its own, or because it was closed. */
  #ends = 0;

  constructor(scene: Scene, mode: Mode, clock: ManualClock) {
    this.#scene = scene;
    this.#mode = mode;
    this.#clock = clock;
    this.#stream = new ModelStream(mode);
    this.#starts = scene.batches.map((_, at) => scene.batches.slice(0, at).reduce((sum, rows) => sum + rows, 0));
  }

  async run(): Promise<void> {
    const { batchMaxRows, retry, maxInFlight, logged, receiptFails, events } = this.#scene;
    const options = {
      stream: "ORDERS",
      subject: "orders.{resource}",
      publishMode: this.#mode,
      publishTimeout: 1000,
      maxInFlight,
      ...(retry ? { retry: { budget: 5000 } } : {}),
    };
    const onReceipt = (receipt: WriteReceipt): void => {
      this.#receipts.push(receipt);
      if (this.#receipts.length - 1 === receiptFails) throw new Error("onReceipt throws");
    };
    const { signal } = this.#abort;
    const limits = resolvePublishAll({ budget: 20_000, batchMaxRows, onReceipt, signal });
    let ending: { readonly rows?: number; readonly error?: unknown } | undefined;
    const dial = () => Promise.resolve(this.#dial().nc);
    publishSequence(dial, options, this.#source(), limits, logged ? this.#log : undefined).then(
      ({ rows }) => ending = { rows },
      (error) => ending = { error },
    ).then(() => this.#isOver = true);
    for (const { do: what, count } of events) {
      if (what === "abort") { for (let i = 0; i < count; i++) await Promise.resolve(); }
      else await this.#clock.settle();
      if (what === "abort") this.#abort.abort(new Error("no longer wanted"));
      else if (what === "deliver") this.#current?.deliver(count);
      else if (what === "pass") await this.#clock.advance(count);
      else if (what === "lose") this.#current?.lose(new Error("the link is cut"));
      else this.#set[what as "silent"] = count === 1;
    }
    Object.assign(this.#set, { silent: false, noResponders: false, full: false });
    for (let i = 0; i < 400 && ending === undefined; i++) {
      this.#current?.deliver();
      await this.#clock.advance(250);
    }
    assert.ok(ending !== undefined, "it ends");
    this.#checkReceipts();
    if (ending.rows === undefined) this.#checkError(ending.error);
    else {
      assert.equal(ending.rows, this.#scene.batches.reduce((sum, rows) => sum + rows, 0));
      assert.equal(this.#receipts.reduce((sum, { rows }) => sum + rows, 0), ending.rows);
      assert.equal(this.#log.left_, undefined);
    }
    const { bodies } = this.#stream;
    assert.equal(new Set(bodies).size, bodies.length, "no row is stored twice");
  }

  #dial(): FakeConnection {
    const flags = { allow_atomic: true, allow_batched: true };
    return this.#current = fakeConnection({
      manual: true,
      frames: this.#scene.frames,
      requests: ({ subject }) =>
        subject.includes("MSG.GET")
          ? new Error("nothing is looked up here")
          : streamInfo(subject.split(".").at(-1)!, flags),
      answers: (published) => {
        this.#checkSent(published);
        const { silent, noResponders, full } = this.#set;
        if (noResponders) return published.reply === "" ? [] : [NO_RESPONDERS];
        const answers = this.#stream.answer(published, full);
        return silent ? [] : answers;
      },
    });
  }

  *#batches(): Generator<RowBatch> {
    for (const [at, rows] of this.#scene.batches.entries()) {
      if (at === this.#scene.sourceFails) throw new Error("the source throws");
      const numbers = Array.from({ length: rows }, (_, i) => this.#starts[at]! + i);
      const ids = this.#scene.ids ? [textColumn("_filament_event_id", numbers.map((n) => `id ${n}`))] : [];
      yield { resource: "eu", rows: batchOf([...ids, intColumn("n", numbers)], rows) };
    }
  }

  /** The batches; notes when they end or are closed. */
  #source(): Iterable<RowBatch> {
    const batches = this.#batches();
    const iterator: Iterator<RowBatch> = {
      next: () => {
        this.#ends++;
        const result = batches.next();
        if (!result.done) this.#ends--;
        return result;
      },
      return: () => {
        this.#ends++;
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.iterator]: () => iterator };
  }

  #bodyOf(n: number): string {
    return `{${this.#scene.ids ? `"_filament_event_id":"id ${n}",` : ""}"n":${n}}`;
  }

  #isStored(n: number): boolean {
    return this.#stream.bodies.includes(this.#bodyOf(n));
  }

  #checkSent(published: Published): void {
    const text = new TextDecoder().decode(published.data);
    if (text === "") return;
    assert.ok(!this.#isOver, `${text} is sent after the end`);
    const { n } = JSON.parse(text) as { n: number };
    assert.equal(text, this.#bodyOf(n));
    if (this.#scene.logged) {
      assert.ok(this.#log.begun.some((piece) => this.#rowsOf(piece).includes(n)), `${n} is logged`);
    }
  }

  #rowsOf(
    { batch, offset, rows }: { readonly batch: number; readonly offset: number; readonly rows: number },
  ): number[] {
    return Array.from({ length: rows }, (_, i) => this.#starts[batch]! + offset + i);
  }

  #checkReceipts(): void {
    let next: readonly [batch: number, offset: number] = [0, 0];
    for (const receipt of this.#receipts) {
      const { batch, offset, rows } = receipt;
      assert.deepEqual([batch, offset], next);
      const end = offset + rows;
      next = end === this.#scene.batches[batch] ? [batch + 1, 0] : [batch, end];
      const numbers = this.#rowsOf(receipt);
      for (const n of numbers) assert.ok(this.#isStored(n), `row ${n} has a receipt`);
      const text = new TextEncoder().encode(numbers.map((n) => this.#bodyOf(n)).join(""));
      assert.deepEqual([receipt.bytes, receipt.crc32c], [text.length, crc32c(text)]);
      if (this.#scene.logged) {
        const begun = this.#log.begun.find((piece) => piece.batch === batch && piece.offset === offset)!;
        assert.deepEqual([begun.rows, begun.bytes, begun.crc32c], [rows, receipt.bytes, receipt.crc32c]);
      }
      if (this.#mode === "fast") continue;
      const sequences = (receipt.sequences ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
      assert.equal(sequences, rows);
    }
  }

  #checkError(error: unknown): void {
    const { batches, logged } = this.#scene;
    const received = new Set(this.#receipts.flatMap((receipt) => this.#rowsOf(receipt)));
    const counted = new Set(received);
    if (isJetrowError(error) && error.name === "PublishError") {
      const rows = batches[error.batch] ?? 0;
      const { counts } = error.rowOutcomes;
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      assert.ok(total === rows || total === 0, `${total} outcomes of ${rows} rows: ${error}`);
      for (let row = 0; row < total; row++) {
        const n = this.#starts[error.batch]! + row;
        counted.add(n);
        this.#checkOutcome(n, error.rowOutcomes.at(row), `${error}`);
        if (received.has(n)) {
          assert.ok(["acked", "duplicate"].includes(error.rowOutcomes.at(row)), `row ${n}: ${error}`);
        }
      }
    } else if (!(error instanceof Error && /throws|wanted/.test(error.message))) {
      assert.ok(isJetrowError(error), String(error));
    }
    assert.equal(this.#ends, 1, "the source ends once");
    if (!logged) return;
    assert.ok(this.#log.left_ !== undefined, "left() is called");
    for (const { batch, offset, codes } of this.#log.left_) {
      codes.forEach((code, at) => {
        const n = this.#starts[batch]! + offset + at;
        counted.add(n);
        this.#checkOutcome(n, OUTCOMES[code]!, `left: ${error}`);
        if (isAcknowledged(code)) assert.ok(this.#isStored(n));
      });
    }
    for (const body of this.#stream.bodies) {
      const { n } = JSON.parse(body) as { n: number };
      assert.ok(counted.has(n), `row ${n} is stored, and no outcome says so: ${error}`);
    }
  }

  #checkOutcome(n: number, outcome: string, about: string): void {
    if (outcome === "unknown") return;
    assert.equal(this.#isStored(n), outcome === "acked" || outcome === "duplicate", `row ${n} is ${outcome}: ${about}`);
  }
}

for (const mode of MODES) {
  Deno.test(`receipts, errors and the log of a sequence agree with the stream, whatever happens: ${mode}`, async () => {
    await fc.assert(
      fc.asyncProperty(scene, (scene) => withManualClock((clock) => new Play(scene, mode, clock).run())),
      { numRuns: Number(Deno.env.get("RUNS") ?? 150) },
    );
  });
}
