import assert from "node:assert/strict";
import { publishAll, Publisher } from "../../mod.ts";
import { Window } from "../../src/publish/lanes/window.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };
const batch = () => ({ resource: "eu", rows: idBatch(10) });
const BUG = new RangeError("Cannot reserve 5 bytes: the window has no room for them");

/** Runs a test in which the fourth row of a publisher meets an error that should be impossible. */
async function withBug(test: () => Promise<void>): Promise<void> {
  const { reserve } = Window.prototype;
  Window.prototype.reserve = function (...row) {
    if (this.count === 3) throw BUG;
    return reserve.apply(this, row);
  };
  try {
    await test();
  } finally {
    Window.prototype.reserve = reserve;
  }
}

Deno.test(
  "an internal error fails the publisher with code and cause, and with what is known of each row",
  onVirtualClock(() =>
    withBug(async () => {
      const publisher = await Publisher.open(fakeConnection({ answers: () => undefined }).nc, OPTIONS);
      const error = await publisher.publish(batch()).catch((error) => error);
      assert.deepEqual([error.code, error.cause, error.outcome], ["publish.internal", BUG, "uncertain"]);
      const { unknown, unsent } = error.rowOutcomes.counts;
      assert.deepEqual([unknown, unsent], [3, 7]);
      assert.equal(await publisher.closed(), error);
      await publisher.close();
    })
  ),
);

Deno.test(
  "publishAll() does not dial again after an internal error",
  onVirtualClock(() =>
    withBug(async () => {
      let dials = 0;
      const dial = () => {
        dials++;
        return Promise.resolve(fakeConnection({ answers: () => undefined }).nc);
      };
      await assert.rejects(publishAll(dial, OPTIONS, [batch()], { budget: "1m" }), {
        code: "publish.internal",
        cause: BUG,
      });
      assert.equal(dials, 1);
    })
  ),
);
