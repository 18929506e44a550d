import assert from "node:assert/strict";
import fc from "fast-check";
import { type EpochSession, openSession, type ResourceTotal } from "../../mod.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { type FakeConnection, fakeConnection, refusal } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

/** A call, and how it ended: `ok`, rows, or an error's code; `poison` stands for the poisoning error. */
interface Call {
  readonly name: string;
  result: string | undefined;
}

/** The rules, written without the session: what each call leads to, and when. */
class Naive {
  active: number | undefined;
  committing = false;
  last: { readonly epoch: number; readonly rows: number } | undefined;
  rows = 0;
  poisoned = false;
  uncertain = false;
  lost = false;
  closing: string | undefined;
  readonly pending: { readonly call: Call; readonly rows: number }[] = [];
  readonly commits: Call[] = [];

  begin(epoch: number): string {
    if (this.closing !== undefined) return "state.closed";
    if (this.poisoned) return "poison";
    const next = this.last === undefined || epoch === this.last.epoch + 1;
    if (this.active !== undefined || epoch < 1 || !next) return "state.epoch_mismatch";
    this.active = epoch;
    this.rows = 0;
    return "ok";
  }
  apply(epoch: number, rows: number, call: Call): string | undefined {
    if (this.closing !== undefined) return "state.closed";
    if (this.poisoned) return "poison";
    if (this.active !== epoch || this.committing) return "state.epoch_mismatch";
    if (this.lost) {
      this.poisoned = true;
      return "poison";
    }
    this.pending.push({ call, rows });
  }
  commit(epoch: number, call: Call): string | undefined {
    if (this.closing !== undefined) return "state.closed";
    if (this.poisoned) return "poison";
    if (this.active === undefined && this.last?.epoch === epoch) return `${this.last.rows}`;
    if (this.active !== epoch) return "state.epoch_mismatch";
    this.committing = true;
    this.commits.push(call);
    this.tryCommit();
    return call.result;
  }
  tryCommit(): void {
    if (!this.committing || this.pending.length > 0 || this.commits.length === 0) return;
    const result = this.poisoned ? "poison" : `${this.rows}`;
    for (const call of this.commits.splice(0)) call.result = result;
    if (this.poisoned) return;
    this.last = { epoch: this.active!, rows: this.rows };
    this.active = undefined;
    this.committing = false;
  }
  abort(epoch: number): string {
    if (this.closing !== undefined) return "state.closed";
    if (this.active === undefined) return "ok";
    if (this.active !== epoch) return "state.epoch_mismatch";
    this.drop();
    return "ok";
  }
  drop(): void {
    if (this.pending.length > 0) this.uncertain = true;
    for (const { call } of this.pending.splice(0)) call.result = "publish.aborted";
    for (const call of this.commits.splice(0)) call.result = "state.aborted";
    this.active = undefined;
    this.committing = false;
  }
  close(): string {
    if (this.closing === undefined) {
      this.drop();
      this.closing = this.uncertain ? "uncertain" : this.poisoned ? "poison" : "ok";
    }
    return this.closing;
  }
  /** All rows on the wire are answered: acknowledged, or the first row of the first call is refused. */
  answer(well: boolean): void {
    this.pending.splice(0).forEach(({ call, rows }, index) => {
      const refused = !well && index === 0;
      call.result = refused ? "poison" : `${rows}`;
      if (refused) this.poisoned = true;
      else this.rows += rows;
    });
    this.tryCommit();
  }
  lose(): void {
    this.lost = true;
    if (this.pending.length > 0) this.poisoned = this.uncertain = true;
    for (const { call } of this.pending.splice(0)) call.result = "poison";
    this.tryCommit();
  }
}

type Step =
  | { readonly do: "begin" | "commit" | "abort"; readonly epoch: number }
  | { readonly do: "apply"; readonly epoch: number; readonly rows: number }
  | { readonly do: "answer" | "refuse" | "lose" | "close" };

/** The number of an epoch, relative to the active or next epoch. */
const epoch = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1, -2));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 60, arbitrary: fc.record({ do: fc.constantFrom("begin", "commit"), epoch }) },
  { weight: 20, arbitrary: fc.record({ do: fc.constant("abort" as const), epoch }) },
  {
    weight: 40,
    arbitrary: fc.record({ do: fc.constant("apply" as const), epoch, rows: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 30, arbitrary: fc.constant({ do: "answer" as const }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ do: "refuse" as const }, { do: "lose" as const }, { do: "close" as const }),
  },
);

Deno.test(
  "a session follows the rules under any sequence of calls, answers and failures",
  onVirtualClock(async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const fake = fakeConnection({ manual: true, answers: () => undefined });
        const options = { stream: "ORDERS", subject: "orders.{resource}", publishTimeout: "1h" };
        const session = await openSession(() => Promise.resolve(fake.nc), options, "a1");
        const naive = new Naive();
        const scene = new Scene(session, fake, naive);
        for (const each of steps) await scene.take(each);
        await scene.take({ do: "close" });
        assert.deepEqual(fake.subscribed, []);
        assert.equal(fake.calls.filter((call) => call === "close").length, 1);
      }),
      { numRuns: 1000 },
    );
  }),
);

/** Applies each step to the session and to the model, and compares which calls have ended. */
class Scene {
  readonly #session: EpochSession;
  readonly #fake: FakeConnection;
  readonly #naive: Naive;
  readonly #real: Call[] = [];
  readonly #wanted: Call[] = [];
  #poison: unknown;
  #answered = 0;
  #seq = 0;

  constructor(session: EpochSession, fake: FakeConnection, naive: Naive) {
    this.#session = session;
    this.#fake = fake;
    this.#naive = naive;
  }

  async take(step: Step): Promise<void> {
    this.#both(step);
    for (let turn = 0; turn < 60; turn++) await Promise.resolve();
    assert.deepEqual(this.#real, this.#wanted, JSON.stringify(step));
  }

  #both(given: Step): void {
    const session = this.#session;
    const { active, last } = this.#naive;
    const step: Step = "epoch" in given ? { ...given, epoch: (active ?? (last?.epoch ?? 0) + 1) + given.epoch } : given;
    const ref = "epoch" in step ? { attempt: "a1", epoch: step.epoch } : { attempt: "a1", epoch: 0 };
    switch (step.do) {
      case "begin":
        return this.#call(step, () => session.beginEpoch(ref), () => this.#naive.begin(step.epoch));
      case "apply": {
        const batch = { resource: "eu", rows: idBatch(step.rows) };
        const apply = () => session.apply(batch, ref).then(({ rows }) => `${rows}`);
        return this.#call(step, apply, (call) => this.#naive.apply(step.epoch, step.rows, call));
      }
      case "commit": {
        const commit = () => session.commitEpoch(ref).then((totals) => `${rowsOf(totals)}`);
        return this.#call(step, commit, (call) => this.#naive.commit(step.epoch, call));
      }
      case "abort":
        return this.#call(step, () => session.abortEpoch(ref), () => this.#naive.abort(step.epoch));
      case "close":
        return this.#call(step, () => session.close(), () => this.#naive.close());
      case "answer":
      case "refuse":
        this.#answer(step.do === "answer");
        return this.#naive.answer(step.do === "answer");
      case "lose":
        this.#fake.lose();
        return this.#naive.lose();
    }
  }

  #call(step: Step, real: () => Promise<unknown>, naive: (call: Call) => string | undefined): void {
    const one: Call = { name: step.do, result: undefined };
    const two: Call = { name: step.do, result: undefined };
    this.#real.push(one);
    this.#wanted.push(two);
    two.result = naive(two);
    real().then((value) => one.result = String(value ?? "ok"), (error) => one.result = this.#word(step.do, error));
  }

  /** The first poisoning error: all later ones must be the same object. */
  #word(call: string, error: { code: string; outcome?: string; message: string }): string {
    if (call === "close" && /quiescence is unproven/.test(error.message)) {
      assert.equal(error.outcome, "uncertain");
      return "uncertain";
    }
    if (error.code.startsWith("state.") || error.code === "publish.aborted") return error.code;
    if (this.#naive.pending.length === 0 && call !== "apply") assert.equal(error, this.#poison ?? error);
    this.#poison ??= error;
    return "poison";
  }

  #answer(well: boolean): void {
    const unanswered = this.#naive.pending.reduce((sum, { rows }) => sum + rows, 0);
    this.#fake.deliver();
    const messages = this.#fake.published.slice(-unanswered || this.#fake.published.length);
    messages.forEach((published, index) => {
      const refused = !well && index === 0;
      const body = { stream: "ORDERS", seq: ++this.#seq };
      this.#fake.answer(published, refused ? refusal(400, 10054, "no") : { body });
    });
    this.#answered += messages.length;
    this.#fake.deliver();
  }
}

function rowsOf(totals: readonly ResourceTotal[]): number {
  return totals.reduce((sum, { rows }) => sum + rows, 0);
}
