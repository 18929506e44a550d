/**
 * A clock that a test moves: timers, `performance.now()` and `Date.now()`. For tests without input and output, with a
 * scripted connection. Not for tests that run in parallel in one process.
 *
 * @module
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers";

interface Timer {
  readonly id: number;
  readonly run: () => void;
  readonly every: number | undefined;
  due: number;
}

/** A clock that stands still until it is moved. */
export interface ManualClock {
  /** Milliseconds that the machine was awake. */
  readonly steady: number;
  /** Milliseconds of wall-clock time, as a server counts them. */
  readonly wall: number;
  /** Lets time pass, and runs the timers that become due. */
  advance(milliseconds: number): Promise<void>;
  /** Moves to the next timer and runs it. Returns false if there is none. */
  next(): Promise<boolean>;
  /** Lets time pass while the machine is suspended: no timer runs, and the steady clock stands still. */
  suspend(milliseconds: number): void;
  /** Lets time pass while the caller's code blocks the event loop: no timer runs until it returns. */
  busy(milliseconds: number): void;
  /** Waits until nothing more happens without time passing. */
  settle(): Promise<void>;
}

const START = Date.UTC(2026, 0, 1);

/** Runs a test with its own clock in place of the globals', which stands still until the test moves it. */
export async function withManualClock<T>(test: (clock: ManualClock) => Promise<T>): Promise<T> {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    dateNow: Date.now,
    performanceNow: performance.now,
  };
  const timers = new Map<number, Timer>();
  let steady = 1000;
  let wall = START;
  let lastId = 0;
  const add = (run: () => void, delay: number, every?: number): number => {
    const timer = { id: ++lastId, run, every, due: steady + Math.max(1, delay) };
    timers.set(timer.id, timer);
    return timer.id;
  };
  // Two turns of the event loop: all microtasks run before each, but not before a message of a MessageChannel.
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 2; i++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const runNext = async (end: number): Promise<boolean> => {
    let next: Timer | undefined;
    for (const timer of timers.values()) {
      if (timer.due <= end && (next === undefined || timer.due < next.due)) next = timer;
    }
    if (next === undefined) return false;
    wall += Math.max(0, next.due - steady);
    steady = Math.max(steady, next.due);
    if (next.every === undefined) timers.delete(next.id);
    else next.due = steady + next.every;
    next.run();
    await settle();
    return true;
  };
  const clock: ManualClock = {
    get steady() {
      return steady;
    },
    get wall() {
      return wall;
    },
    async advance(milliseconds) {
      const end = steady + milliseconds;
      await settle();
      while (await runNext(end));
      wall += end - steady;
      steady = end;
    },
    next: () => runNext(Infinity),
    suspend(milliseconds) {
      wall += milliseconds;
    },
    busy(milliseconds) {
      wall += milliseconds;
      steady += milliseconds;
    },
    settle,
  };
  Object.assign(globalThis, {
    setTimeout: (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) => add(() => run(...args), delay),
    clearTimeout: (id: number) => timers.delete(id),
    setInterval: (run: () => void, delay = 0) => add(run, delay, Math.max(1, delay)),
    clearInterval: (id: number) => timers.delete(id),
  });
  Date.now = () => wall;
  performance.now = () => steady;
  try {
    const result = await test(clock);
    await settle();
    for (let left = 100; left > 0 && await runNext(Infinity); left--);
    assert.equal(timers.size, 0, "no timer is left after the test");
    return result;
  } finally {
    const { dateNow, performanceNow, ...globals } = real;
    Object.assign(globalThis, globals);
    Date.now = dateNow;
    performance.now = performanceNow;
  }
}

/** A test fails if nothing happened and no timer was set for this many real milliseconds, */
const STUCK = 60_000;
/** or if it did not end within this many milliseconds of its own clock. */
const DAY = 24 * 60 * 60_000;

/** Runs a test with a clock that moves to the next timer whenever nothing else is left to do. */
export async function withVirtualClock<T>(test: (clock: ManualClock) => T | Promise<T>): Promise<T> {
  const now = performance.now.bind(performance);
  return await withManualClock(async (clock) => {
    let ended = false;
    const running = (async () => await test(clock))().finally(() => ended = true);
    running.catch(() => {});
    for (let moved = now(); !ended;) {
      await clock.settle();
      if (ended) break;
      if (await clock.next()) moved = now();
      if (now() - moved > STUCK || clock.steady > DAY) {
        throw new Error("the test waits for something that does not happen");
      }
    }
    return await running;
  });
}

/** A test's body that runs under {@linkcode withVirtualClock}. */
export function onVirtualClock(body: (clock: ManualClock) => void | Promise<void>): () => Promise<void> {
  return () => withVirtualClock(body);
}
