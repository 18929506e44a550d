import assert from "node:assert/strict";
import { type Part, Piece } from "../../../src/lifecycle/sequence/piece.ts";
import { resolveOptions } from "../../../src/options/publisher.ts";
import type { PublisherCore } from "../../../src/publish/core.ts";
import type { Call } from "../../../src/publish/call.ts";
import { ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT } from "../../../src/publish/outcomes.ts";
import { BASE } from "../../faults/_scripted.ts";
import { loadedCall, preparingCall } from "../../publish/_calls.ts";
import { onVirtualClock } from "../../_support/clock.ts";

/** The outcome codes of the rows on one connection; undefined: it ends before the rows are prepared. */
type Attempt = readonly number[] | undefined;

/** A piece of five rows over several connections. */
function pieceOver(first: Attempt, options: { ids?: boolean; window?: number; doubtful?: boolean } = {}) {
  const { ids = true, window = 60_000, doubtful = false } = options;
  const given: (readonly number[] | undefined)[] = [];
  let next = first;
  const core = {
    settings: resolveOptions(BASE),
    start(source: { only?: readonly number[] }): Call {
      given.push(source.only);
      if (next === undefined) return preparingCall();
      const call = loadedCall({ count: next.length, hasId: () => ids }, { duplicateWindow: window });
      call.submit(0, next.length, performance.now());
      if (doubtful) call.reject(1, "unknown");
      call.ledger.codes.set(next);
      return call;
    },
  } as unknown as PublisherCore;
  const part: Part = { index: 0, source: { selected: 5 } as never, codes: new Uint8Array(5), sent: false, highest: 0 };
  const piece = new Piece(core, part, { from: 0, count: 5 }, undefined, undefined);
  piece.note();
  const again = (attempt: Attempt): void => {
    next = attempt;
    piece.resume(core, undefined);
    piece.note();
  };
  return { piece, part, given, again };
}

Deno.test(
  "resume() keeps the earlier outcome of a row that the new connection did not send",
  onVirtualClock(() => {
    const { piece, part, given, again } = pieceOver([ACKED, UNKNOWN, REJECTED, UNKNOWN, UNSENT]);
    again([DUPLICATE, UNSENT, UNSENT, UNSENT]);
    assert.deepEqual(given, [undefined, [1, 2, 3, 4]]);
    assert.deepEqual([...part.codes], [ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT]);
    again(undefined);
    assert.deepEqual([...part.codes], [ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT]);
    again([ACKED, DUPLICATE, ACKED]);
    assert.deepEqual(given.at(-1), [2, 3, 4]);
    assert.ok(piece.complete);
  }),
);

Deno.test(
  "a piece whose rows were never prepared is neither complete nor loaded",
  onVirtualClock(() => {
    const { piece, part } = pieceOver(undefined);
    assert.ok(!piece.complete && !piece.loaded && !part.sent);
    assert.equal(piece.whyNotAgain(0), undefined);
  }),
);

Deno.test(
  "rows of unknown outcome are resent only with an id and inside the duplicate window",
  onVirtualClock(() => {
    const unknown = [ACKED, UNKNOWN, ACKED, ACKED, ACKED];
    assert.equal(pieceOver(unknown).piece.whyNotAgain(5000), undefined);
    assert.match(pieceOver(unknown, { ids: false }).piece.whyNotAgain(5000)!, /row 1 .* has no id/);
    assert.match(
      pieceOver(unknown, { window: 5000 }).piece.whyNotAgain(5000)!,
      /row 1 may be stored.* duplicate window of 5000 ms/,
    );
  }),
);

Deno.test(
  "rows that are provably not stored may be resent at any time",
  onVirtualClock(() => {
    for (const code of [REJECTED, UNSENT]) {
      const { piece } = pieceOver([ACKED, code, ACKED, ACKED, ACKED], { ids: false, window: 0 });
      assert.equal(piece.whyNotAgain(5000), undefined);
    }
  }),
);

Deno.test(
  "a row that an earlier submission may have stored counts as possibly stored, whatever its last outcome",
  onVirtualClock(() => {
    const rejected = [ACKED, REJECTED, ACKED, ACKED, ACKED];
    assert.match(pieceOver(rejected, { doubtful: true, window: 0 }).piece.whyNotAgain(0)!, /row 1 may be stored/);
    assert.equal(pieceOver(rejected, { doubtful: true }).piece.whyNotAgain(0), undefined);
    assert.equal(pieceOver(rejected, { window: 0 }).piece.whyNotAgain(0), undefined);
  }),
);
