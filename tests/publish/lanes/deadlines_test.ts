import assert from "node:assert/strict";
import { ExpiryTimer } from "../../../src/publish/lanes/deadlines.ts";
import { onVirtualClock } from "../../_support/clock.ts";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test(
  "a timer calls back at the earliest deadline, with the time up to which rows are due",
  onVirtualClock(async () => {
    let deadline = performance.now() + 20;
    const told = await new Promise<number>((resolve) => {
      const timer = new ExpiryTimer(() => deadline, (now) => {
        deadline = Infinity;
        resolve(now);
      });
      timer.arm();
      timer.arm();
    });
    assert.ok(told >= deadline || deadline === Infinity);
    assert.ok(told <= performance.now());
  }),
);

Deno.test(
  "a timer follows deadlines that move later, and is not set without a deadline",
  onVirtualClock(async () => {
    let deadline = performance.now() + 5;
    let due = 0;
    const timer = new ExpiryTimer(() => deadline, () => {
      due++;
      deadline = Infinity;
    });
    timer.arm();
    deadline = performance.now() + 40;
    while (due === 0) await turn();
    assert.equal(due, 1);
    timer.arm();
    timer.stop();
  }),
);

Deno.test(
  "an earlier deadline moves the timer forward",
  onVirtualClock(async () => {
    let deadline = performance.now() + 60_000;
    let due = false;
    const timer = new ExpiryTimer(() => deadline, () => {
      due = true;
      deadline = Infinity;
    });
    timer.arm();
    deadline = performance.now();
    timer.arm();
    while (!due) await turn();
    timer.stop();
  }),
);

Deno.test(
  "a blocked event loop reads the received answers before it expires rows",
  onVirtualClock(async (clock) => {
    let deadline = performance.now() + 10;
    const order: string[] = [];
    const timer = new ExpiryTimer(() => deadline, () => {
      order.push("expired");
      deadline = Infinity;
    });
    timer.arm();
    // Each turn of the loop reads some of the answers that arrived while it was blocked.
    let left = 3;
    const read = (): void => {
      timer.noteAnswer();
      order.push("read");
      if (--left > 0) setTimeout(read, 0);
    };
    setTimeout(read, 0);
    clock.busy(60);
    while (order.at(-1) !== "expired") await turn();
    assert.deepEqual(order, ["read", "read", "read", "expired"]);
    timer.stop();
  }),
);

Deno.test(
  "a stopped timer does not call back",
  onVirtualClock(async () => {
    const timer = new ExpiryTimer(() => performance.now(), () => assert.fail("stopped"));
    timer.arm();
    timer.stop();
    await turn();
    await turn();
  }),
);

Deno.test("a timer is never set beyond the runtime's maximum, at which it would fire at once, repeatedly", () => {
  const { setTimeout: timeout } = globalThis;
  const delays: number[] = [];
  globalThis.setTimeout = ((run: () => void, delay: number) => (delays.push(delay), timeout(run, 0))) as never;
  try {
    const timer = new ExpiryTimer(() => performance.now() + 2 ** 31, () => {});
    timer.arm();
    timer.stop();
  } finally {
    globalThis.setTimeout = timeout;
  }
  assert.deepEqual(delays, [2 ** 31 - 1]);
});
