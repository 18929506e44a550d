import assert from "node:assert/strict";
import { ProgressTeller } from "../../src/publish/progress.ts";
import type { Progress } from "../../src/types/mod.ts";
import { withFastClock } from "../_support/fast_clock.ts";

const progress = (acked: number): Progress => ({ submitted: acked, acked, bytes: 0, inFlight: 0, inFlightBytes: 0 });

Deno.test("a listener is told at most ten times a second, and of the last move", () =>
  withFastClock(10, async () => {
    let acked = 0;
    const told: { readonly acked: number; readonly at: number }[] = [];
    const teller = new ProgressTeller(({ acked }) => void told.push({ acked, at: performance.now() }), () =>
      progress(acked));
    const start = performance.now();
    while (performance.now() - start < 1000) {
      acked++;
      teller.moved();
      await new Promise((resolve) =>
        setTimeout(resolve, 1)
      );
    }
    const last = acked;
    while (told.at(-1)!.acked < last) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let i = 1; i < told.length; i++) {
      assert.ok(told[i]!.at - told[i - 1]!.at >= 85, "a timer may fire a millisecond early");
    }
    assert.ok(told.length >= 2);
    teller.stop();
    teller.moved();
    assert.equal(told.at(-1)!.acked, last);
  }));

Deno.test("a listener that throws is not called again", () => {
  let calls = 0;
  const teller = new ProgressTeller(() => {
    calls++;
    throw new Error("not the rows' fault");
  }, () => progress(1));
  teller.moved();
  teller.moved();
  teller.stop();
  assert.equal(calls, 1);
});
