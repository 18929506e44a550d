/**
 * Time that passes faster, for tests of pauses that a user would wait for.
 *
 * @module
 */

/** Runs a test in which timers and `performance.now()` are so many times faster. Not for tests that run in parallel. */
export async function withFastClock(factor: number, test: () => Promise<void>): Promise<void> {
  const { setTimeout: timeout } = globalThis;
  const now = performance.now.bind(performance);
  const start = now();
  const fast = (run: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
    timeout(run, milliseconds / factor, ...args);
  globalThis.setTimeout = fast as typeof globalThis.setTimeout;
  performance.now = () => start + (now() - start) * factor;
  try {
    await test();
  } finally {
    globalThis.setTimeout = timeout;
    performance.now = now;
  }
}
