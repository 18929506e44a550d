/**
 * Calls that share a publisher, aborted and failed at any time in every mode: each ends, its outcomes agree with the
 * stream, none of its rows is sent afterwards, and every message has the bytes of its row.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { type Options, Publisher, PublishError, type WriteReceipt } from "../../mod.ts";
import { batchOf, intColumn, textColumn } from "../_support/arrow/mod.ts";
import { type ManualClock, withManualClock } from "../_support/clock.ts";
import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  NO_RESPONDERS,
  type Published,
  streamInfo,
} from "../_support/fake/mod.ts";
import { type Mode, ModelStream, MODES } from "./_model_stream.ts";

/** What happens to a message: it arrives and is answered, it is lost, its answer is, or it is refused. */
type Fate = "good" | "lost" | "silent" | "no responders" | "refused";

type Event =
  | { readonly do: "publish"; readonly rows: number; readonly resource: "eu" | "us" }
  | { readonly do: "abort"; readonly call: number }
  | { readonly do: "tick"; readonly count: number }
  | { readonly do: "deliver"; readonly count: number }
  | { readonly do: "pass"; readonly time: number }
  | { readonly do: "close" | "lose" };

const publishing = fc.record({
  do: fc.constant("publish" as const),
  rows: fc.nat(9),
  resource: fc.constantFrom("eu" as const, "us" as const),
});

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: publishing },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("abort" as const), call: fc.nat(5) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("tick" as const), count: fc.nat(30) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 1500 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("close" as const, "lose" as const) }) },
);

const scene = fc.record({
  ids: fc.boolean(),
  retry: fc.boolean(),
  frames: fc.boolean(),
  owned: fc.boolean(),
  maxInFlight: fc.integer({ min: 1, max: 12 }),
  /** What `onProgress` does, and at which of its calls. */
  inProgress: fc.option(
    fc.record({ at: fc.nat(8), what: fc.constantFrom("publish", "abort", "close", "throw") }),
    { nil: undefined },
  ),
  fates: fc.array(
    fc.oneof(
      { weight: 20, arbitrary: fc.constant<Fate>("good") },
      fc.constantFrom<Fate>("lost", "silent", "no responders", "refused"),
    ),
    { minLength: 1, maxLength: 40 },
  ),
  events: fc.array(event, { maxLength: 50, size: "max" }),
});

type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

/** The string in a row's body. */
const textOf = (n: number): string => `row ${n} ${"abcdefghij".repeat(n % 7)}`;

/** A signal that counts its listeners. */
class CountedSignal {
  readonly controller = new AbortController();
  listeners = 0;

  get signal(): AbortSignal {
    const { signal } = this.controller;
    return new Proxy(signal, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "addEventListener") this.listeners++;
          if (name === "removeEventListener") this.listeners--;
          return value.apply(target, args);
        };
      },
    });
  }
}

/** A call of the scene. */
interface ModelCall {
  readonly from: number;
  readonly rows: number;
  readonly abort: CountedSignal;
  readonly resource: string;
  ended: boolean;
  receipt?: WriteReceipt;
  error?: unknown;
}

class Play {
  readonly calls: ModelCall[] = [];
  readonly #scene: Scene;
  readonly #mode: Mode;
  readonly #clock: ManualClock;
  readonly #stream: ModelStream;
  readonly #fake: FakeConnection;
  #publisher!: Publisher;
  readonly #errors = new Set<unknown>();
  #rows = 0;
  #progress = 0;
  #closing: Promise<void> | undefined;

  constructor(scene: Scene, mode: Mode, clock: ManualClock) {
    this.#scene = scene;
    this.#mode = mode;
    this.#clock = clock;
    this.#stream = new ModelStream(mode);
    const flags = { allow_atomic: true, allow_batched: true };
    this.#fake = fakeConnection({
      manual: true,
      frames: scene.frames,
      requests: ({ subject }) =>
        subject.includes("MSG.GET")
          ? new Error("nothing is looked up here")
          : streamInfo(subject.split(".").at(-1)!, flags),
      answers: (published) => {
        this.#checkBytes(published);
        return this.#answer(published);
      },
    });
  }

  async run(): Promise<void> {
    const { owned, retry, maxInFlight, events } = this.#scene;
    const options: Options = {
      stream: "ORDERS",
      subject: "orders.{resource}",
      publishMode: this.#mode,
      publishTimeout: 1000,
      maxInFlight,
      onProgress: () => this.#inProgress(),
      ...(retry ? { retry: { budget: 5000 } } : {}),
    };
    this.#watchSends();
    const { nc } = this.#fake;
    this.#publisher = await Publisher.open(owned ? () => Promise.resolve(nc) : nc, options);
    for (const event of events) await this.#take(event);
    for (let i = 0; i < 400 && this.calls.some(({ ended }) => !ended); i++) {
      this.#fake.deliver();
      await this.#clock.advance(100);
    }
    for (const call of this.calls) this.#check(call);
    const closed = (this.#closing ?? this.#publisher.close()).then(() => true);
    await this.#clock.advance(3000);
    assert.ok(await Promise.race([closed, false]), "close() ends");
    const { inFlight, inFlightBytes } = this.#publisher.stats();
    assert.deepEqual([inFlight, inFlightBytes], [0, 0]);
    assert.deepEqual(this.#fake.subscribed, []);
    const { stored } = this;
    if (!this.#scene.ids) assert.equal(new Set(stored).size, stored.length);
  }

  async #take(event: Event): Promise<void> {
    switch (event.do) {
      case "publish":
        return this.#publish(event.rows, event.resource);
      case "abort":
        return this.calls[event.call]?.abort.controller.abort();
      case "tick":
        for (let i = 0; i < event.count; i++) await Promise.resolve();
        return;
      case "deliver":
        await this.#clock.settle();
        return this.#fake.deliver(event.count);
      case "pass":
        return await this.#clock.advance(event.time);
      case "close":
        this.#closing ??= this.#publisher.close();
        return;
      case "lose":
        return this.#fake.lose();
    }
  }

  #publish(rows: number, resource: string): void {
    const from = this.#rows;
    this.#rows += rows;
    const numbers = Array.from({ length: rows }, (_, i) => from + i);
    const ids = this.#scene.ids ? [textColumn("_filament_event_id", numbers.map((n) => `id ${n}`))] : [];
    const batch = batchOf([...ids, intColumn("n", numbers), textColumn("text", numbers.map(textOf))], rows);
    const call: ModelCall = { from, rows, resource, abort: new CountedSignal(), ended: false };
    this.calls.push(call);
    const { signal } = call.abort;
    this.#publisher.publish({ resource, rows: batch }, { signal }).then(
      (receipt) => Object.assign(call, { receipt, ended: true }),
      (error) => Object.assign(call, { error, ended: true }),
    );
  }

  #inProgress(): void {
    const { inProgress } = this.#scene;
    if (inProgress === undefined || this.#progress++ !== inProgress.at) return;
    if (inProgress.what === "publish") this.#publish(2, "eu");
    if (inProgress.what === "abort") { for (const { abort } of this.calls) abort.controller.abort(); }
    if (inProgress.what === "close") this.#closing ??= this.#publisher.close();
    if (inProgress.what === "throw") throw new Error("onProgress throws");
  }

  #answer(published: Published): readonly Answer[] {
    const { fates } = this.#scene;
    const fate = fates[published.index % fates.length]!;
    if (fate === "lost") return [];
    if (fate === "no responders") return published.reply === "" ? [] : [NO_RESPONDERS];
    const answers = this.#stream.answer(published, fate === "refused");
    return fate === "silent" ? [] : answers;
  }

  /** The numbers of the stored rows. */
  get stored(): readonly number[] {
    return this.#stream.bodies.map((body) => JSON.parse(body).n as number);
  }

  #checkBytes(published: Published): void {
    const text = new TextDecoder().decode(published.data);
    if (text === "") return;
    const n = JSON.parse(text).n as number;
    const id = this.#scene.ids ? `"_filament_event_id":"id ${n}",` : "";
    assert.equal(text, `{${id}"n":${n},"text":"${textOf(n)}"}`);
    const { resource } = this.#callOf(n);
    assert.equal(published.subject, `orders.${resource}`);
  }

  #callOf(n: number): ModelCall {
    return this.calls.find(({ from, rows }) => n >= from && n < from + rows)!;
  }

  /** Fails if a row of a call that has ended is handed to the connection. */
  #watchSends(): void {
    const check = (bytes: Uint8Array): void => {
      for (const [, n] of new TextDecoder().decode(bytes).matchAll(/"n":(\d+)/g)) {
        assert.ok(!this.#callOf(Number(n)).ended, `row ${n} is sent after its call has ended`);
      }
    };
    const { nc } = this.#fake;
    const { protocol } = nc as unknown as { protocol?: { sendCommand(bytes: Uint8Array): void } };
    const publish = nc.publish.bind(nc);
    nc.publish = (subject, payload, options) => {
      check(payload as Uint8Array);
      publish(subject, payload, options);
    };
    if (protocol === undefined) return;
    const send = protocol.sendCommand.bind(protocol);
    protocol.sendCommand = (bytes) => {
      check(bytes);
      send(bytes);
    };
  }

  #check(call: ModelCall): void {
    const { from, rows, ended, receipt, error } = call;
    assert.ok(ended, `a call of ${rows} rows never ends`);
    assert.ok(call.abort.listeners <= 0 || call.abort.controller.signal.aborted, "the listener is removed");
    const { stored } = this;
    const times = (n: number): number => stored.filter((other) => other === n).length;
    const numbers = Array.from({ length: rows }, (_, i) => from + i);
    if (receipt !== undefined) {
      assert.equal(receipt.rows, rows);
      for (const n of numbers) assert.equal(times(n), 1, `row ${n} of a receipt`);
      if (this.#mode === "fast") return;
      const sequences = (receipt.sequences ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
      assert.equal(sequences, rows);
      return;
    }
    const { name, code } = error as { name: string; code: string };
    if (name === "StateError") return assert.equal(code, "state.closed");
    if (code === "encode.too_large") return assert.equal(this.#mode, "atomic");
    assert.ok(error instanceof PublishError, String(error));
    assert.notEqual(code, "publish.internal", String(error));
    // A call after the end of its publisher rejects with an earlier call's error.
    if (this.#errors.has(error)) return numbers.forEach((n) => assert.equal(times(n), 0, `row ${n} of a late call`));
    this.#errors.add(error);
    const { counts } = error.rowOutcomes;
    assert.equal(Object.values(counts).reduce((sum, count) => sum + count, 0), rows);
    numbers.forEach((n, row) => {
      const word = error.rowOutcomes.at(row);
      if (word === "acked" || word === "duplicate") assert.equal(times(n), 1, `row ${n} is ${word}: ${error}`);
      else if (word !== "unknown") assert.equal(times(n), 0, `row ${n} is ${word}: ${error}`);
    });
  }
}

for (const mode of MODES) {
  Deno.test(`calls that share a publisher end with what the stream holds, whatever happens: ${mode}`, async () => {
    await fc.assert(
      fc.asyncProperty(scene, (scene) => withManualClock((clock) => new Play(scene, mode, clock).run())),
      { numRuns: Number(Deno.env.get("RUNS") ?? 150) },
    );
  });
}
