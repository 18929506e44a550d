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

Deno.test("watchAbort() has one listener a signal, gone with the last who waits, and there again for the next", () => {
  const { abort, listeners } = counted();
  for (let round = 0; round < 3; round++) {
    const forget = Array.from({ length: 20 }, () => watchAbort(abort.signal, () => assert.fail("not aborted")));
    assert.equal(listeners(), 1);
    const last = forget.pop()!;
    forget.forEach((forget) => forget());
    assert.equal(listeners(), 1, "one waits still");
    last();
    assert.equal(listeners(), 0);
  }
});

Deno.test("watchAbort() tells each who waits once, in order, and none who does not wait any more", () => {
  const { abort } = counted();
  const told: number[] = [];
  const forget = [0, 1, 2, 3, 4].map((n) =>
    watchAbort(abort.signal, () => {
      told.push(n);
      // What one's abort ends for another is not that one's abort.
      if (n === 1) forget[3]!();
    })
  );
  forget[2]!();
  abort.abort();
  assert.deepEqual(told, [0, 1, 4]);
  forget.forEach((forget) => forget());
});

Deno.test("watchAbort(): who is forgotten twice takes the listener from nobody", () => {
  const { abort, listeners } = counted();
  const first = watchAbort(abort.signal, () => assert.fail("forgotten"));
  first();
  let told = 0;
  watchAbort(abort.signal, () => told++);
  first();
  assert.equal(listeners(), 1);
  abort.abort();
  assert.equal(told, 1);
});
