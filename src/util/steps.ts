/**
 * Work in steps, so that other work can be done between them.
 *
 * @module
 */

/** Work that pauses after each step and returns its result at the end. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps at once and returns the result. */
export function toEnd<T>(steps: Steps<T>): T {
  while (true) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
