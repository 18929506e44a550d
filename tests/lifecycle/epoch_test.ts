import assert from "node:assert/strict";
import fc from "fast-check";
import {
  abort,
  apply,
  begin,
  commit,
  committed,
  type EpochState,
  type EpochStep,
  OPENED,
} from "../../src/lifecycle/epoch.ts";

/** The rules, written without the state machine: which epoch is active, which was committed last. */
class Naive {
  active: number | undefined;
  last: number | undefined;
  committing = false;
  closed = false;
  begin(epoch: number): string {
    const next = this.last === undefined || epoch === this.last + 1;
    if (this.closed || this.active !== undefined || !(Number.isSafeInteger(epoch) && epoch > 0) || !next) {
      return "mismatch";
    }
    this.active = epoch;
    return "go";
  }
  apply(epoch: number): string {
    return !this.closed && !this.committing && this.active === epoch ? "go" : "mismatch";
  }
  commit(epoch: number): string {
    if (this.closed) return "mismatch";
    if (this.active !== undefined) {
      if (this.active !== epoch) return "mismatch";
      if (this.committing) return "repeat";
      this.committing = true;
      return "go";
    }
    return this.last === epoch ? "repeat" : "mismatch";
  }
  committed(): void {
    if (!this.committing) return;
    this.last = this.active;
    this.active = undefined;
    this.committing = false;
  }
  abort(epoch: number): string {
    if (this.closed) return "mismatch";
    if (this.active === undefined) return "repeat";
    if (this.active !== epoch) return "mismatch";
    this.active = undefined;
    this.committing = false;
    return "go";
  }
}

Deno.test("the epoch machine follows the rules under any sequence of calls", () => {
  const call = fc.constantFrom("begin", "apply", "commit", "committed", "abort", "close");
  const epoch = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constantFrom(0, -1, 1.5, NaN));
  fc.assert(
    fc.property(fc.array(fc.tuple(call, epoch), { maxLength: 60, size: "max" }), (calls) => {
      const naive = new Naive();
      let state: EpochState = OPENED;
      const machines = { begin, apply, commit, abort };
      for (const [name, number] of calls) {
        if (name === "committed") {
          naive.committed();
          state = committed(state);
        } else if (name === "close") {
          naive.closed = true;
          state = { kind: "closed" };
        } else {
          const step: EpochStep = machines[name as keyof typeof machines](state, number);
          assert.equal(step.kind, naive[name as keyof typeof machines](number), `${name} ${number}`);
          if (step.kind === "mismatch") assert.ok(step.rule.length > 0);
          if (step.kind === "go") state = step.state;
        }
        const active = state.kind === "active" || state.kind === "committing" ? state.epoch : undefined;
        if (!naive.closed) assert.equal(active, naive.active);
      }
    }),
    { numRuns: 500 },
  );
});
