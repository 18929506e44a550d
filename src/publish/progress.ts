/**
 * Tells a listener of progress, at most ten times a second.
 *
 * @module
 */

import type { Progress } from "../types/mod.ts";

/** Between two calls, in milliseconds. */
const INTERVAL = 100;

/** Calls a listener now, or when its time comes. One that throws is not called again: it is not the rows' fault. */
export class ProgressTeller {
  readonly #read: () => Progress;
  #listener: ((progress: Progress) => void) | undefined;
  #last = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** A teller of what `read` gives; without a listener it does nothing. */
  constructor(listener: ((progress: Progress) => void) | undefined, read: () => Progress) {
    this.#listener = listener;
    this.#read = read;
  }

  /** Something moved. */
  moved(): void {
    if (this.#listener === undefined || this.#timer !== undefined) return;
    const wait = this.#last + INTERVAL - performance.now();
    if (wait <= 0) this.#tell();
    else this.#timer = setTimeout(() => this.#tell(), wait);
  }

  /** Tells what is still untold, where the interval allows it, and ends. */
  stop(): void {
    if (this.#timer !== undefined && performance.now() - this.#last >= INTERVAL) this.#tell();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#listener = undefined;
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#last = performance.now();
    try {
      this.#listener?.(this.#read());
    } catch {
      this.#listener = undefined;
    }
  }
}
