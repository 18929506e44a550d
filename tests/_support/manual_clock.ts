/**
 * Time that a test moves by hand: timers and both clocks, the wall clock also while the machine sleeps.
 *
 * @module
 */

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
  /** Milliseconds of the world's time: what a server counts. */
  readonly wall: number;
  /** Lets time pass, and runs the timers that become due. */
  advance(milliseconds: number): Promise<void>;
  /** Lets time pass while the machine sleeps: no timer runs, and the steady clock stands still. */
  suspend(milliseconds: number): void;
  /** Waits until nothing more happens without time passing. */
  settle(): Promise<void>;
}

const START = Date.UTC(2026, 0, 1);

/** Runs a test with a manual clock in place of the globals. Not for tests that run in parallel in one process. */
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
  const turns = new MessageChannel();
  const waiting: (() => void)[] = [];
  turns.port1.onmessage = () => waiting.shift()!();
  const turn = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      turns.port2.postMessage(0);
    });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) await turn();
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
      for (;;) {
        const next = [...timers.values()].filter(({ due }) =>
          due <= end
        ).sort((a, b) => a.due - b.due || a.id - b.id)[0];
        if (next === undefined) break;
        wall += Math.max(0, next.due - steady);
        steady = Math.max(steady, next.due);
        if (next.every === undefined) timers.delete(next.id);
        else next.due = steady + next.every;
        next.run();
        await settle();
      }
      wall += end - steady;
      steady = end;
    },
    suspend(milliseconds) {
      wall += milliseconds;
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
    return await test(clock);
  } finally {
    turns.port1.close();
    turns.port2.close();
    const { dateNow, performanceNow, ...globals } = real;
    Object.assign(globalThis, globals);
    Date.now = dateNow;
    performance.now = performanceNow;
  }
}
