import assert from "node:assert/strict";
import { watchAbort } from "../../src/util/abort.ts";

/** A controller that counts its signal's listeners. */
function counted(): { abort: AbortController; listeners: () => number } {
  const abort = new AbortController();
  const { signal } = abort;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { abort, listeners: () => listeners.size };
}

Deno.test("watchAbort() adds one listener per signal, removes it with the last waiter and adds it again for the next", () => {
  const { abort, listeners } = counted();
  for (let round = 0; round < 3; round++) {
    const remove = Array.from({ length: 20 }, () => watchAbort(abort.signal, () => assert.fail("not aborted")));
    assert.equal(listeners(), 1);
    const last = remove.pop()!;
    remove.forEach((remove) => remove());
    assert.equal(listeners(), 1, "one waiter is left");
    last();
    assert.equal(listeners(), 0);
  }
});

Deno.test("watchAbort() calls each waiter once, in order, and none that was removed", () => {
  const { abort } = counted();
  const called: number[] = [];
  const remove = [0, 1, 2, 3, 4].map((n) =>
    watchAbort(abort.signal, () => {
      called.push(n);
      // A waiter that this callback removes is not called.
      if (n === 1) remove[3]!();
    })
  );
  remove[2]!();
  abort.abort();
  assert.deepEqual(called, [0, 1, 4]);
  remove.forEach((remove) => remove());
});

Deno.test("watchAbort() keeps the listener for other waiters when one waiter is removed twice", () => {
  const { abort, listeners } = counted();
  const first = watchAbort(abort.signal, () => assert.fail("it was removed"));
  first();
  let called = 0;
  watchAbort(abort.signal, () => called++);
  first();
  assert.equal(listeners(), 1);
  abort.abort();
  assert.equal(called, 1);
});
