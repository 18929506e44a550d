/**
 * Work in steps, so that other work can be done between them.
 *
 * @module
 */

/** Work that pauses after each step, and gives its result at the end. */
export type Steps<T> = Generator<void, T, void>;

/** Does work to its end at once. */
export function toEnd<T>(steps: Steps<T>): T {
  while (true) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
