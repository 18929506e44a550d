import assert from "node:assert/strict";
import fc from "fast-check";
import { elapsedBetween, momentOf, resendFault, resendLimit, shiftedSends } from "../../src/stream/resend.ts";
import { FirstSent } from "../../src/publish/row_ledger.ts";

const base = { row: 3, hasId: true, firstSent: { wall: 1000, steady: 50 }, duplicateWindow: 500, publishTimeout: 100 };

Deno.test("elapsedBetween() returns the larger of both clocks' differences", () => {
  const since = { wall: 1000, steady: 50 };
  assert.equal(elapsedBetween(since, { wall: 1300, steady: 350 }), 300);
  assert.equal(
    elapsedBetween(since, { wall: 901_000, steady: 51 }),
    900_000,
    "suspended: the steady clock stood still",
  );
  assert.equal(elapsedBetween(since, { wall: 0, steady: 350 }), 300, "the wall clock was set back");
});

Deno.test("momentOf() converts a wall-clock time that another process recorded", () => {
  const now = { wall: 10_000, steady: 70 };
  assert.equal(elapsedBetween(momentOf(4000, now), now), 6000);
  assert.equal(elapsedBetween(momentOf(12_000, now), now), 0, "a clock that was set back");
});

Deno.test("resendFault() refuses a row without an id, and one whose duplicate window may end within the timeout", () => {
  const at = (elapsed: number) => resendFault({ ...base, now: { wall: 1000 + elapsed, steady: 50 + elapsed } });
  assert.equal(resendLimit(500, 100), 400);
  assert.equal(at(399), undefined);
  assert.match(at(400)!, /row 3 may be stored, and 400 ms after .* duplicate window of 500 ms/);
  assert.match(resendFault({ ...base, hasId: false, now: base.firstSent })!, /row 3 may be stored, and it has no id/);
});

Deno.test("shiftedSends() counts rows from another first row", () => {
  const sends = { duplicateWindow: 7, firstSent: (row: number) => row === 5 ? base.firstSent : undefined };
  assert.equal(shiftedSends(sends, 3)!.firstSent(2), base.firstSent);
  assert.equal(shiftedSends(sends, 3)!.firstSent(5), undefined);
  assert.equal(shiftedSends(undefined, 3), undefined);
});

Deno.test("FirstSent returns a time at or before the row's own, by less than 50 ms", () => {
  fc.assert(fc.property(fc.array(fc.record({ rows: fc.nat(5), pause: fc.nat(200) }), { maxLength: 30 }), (steps) => {
    const firstSent = new FirstSent();
    const times: number[] = [];
    let time = 0;
    assert.equal(firstSent.of(0), undefined);
    for (const { rows, pause } of steps) {
      time += pause;
      firstSent.mark(times.length, times.length + rows, time);
      for (let i = 0; i < rows; i++) times.push(time);
      // A row that is sent again keeps its time.
      firstSent.mark(Math.max(0, times.length - 2), times.length, time);
      assert.equal(firstSent.of(times.length), undefined);
    }
    times.forEach((own, row) => {
      const { steady } = firstSent.of(row)!;
      assert.ok(steady <= own && own - steady < 50, `row ${row}: ${steady} for ${own}`);
    });
  }));
});
