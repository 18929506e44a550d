/**
 * Reports progress to a listener: at most ten times a second, and at the end of each call.
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
  #unreported = false;

  /** A teller of what `read` gives; without a listener it does nothing. */
  constructor(listener: ((progress: Progress) => void) | undefined, read: () => Progress) {
    this.#listener = listener;
    this.#read = read;
  }

  /** Something moved. */
  moved(): void {
    this.#unreported = true;
    if (this.#listener === undefined || this.#timer !== undefined) return;
    const wait = this.#last + INTERVAL - performance.now();
    if (wait <= 0) this.#tell();
    else this.#timer = setTimeout(() => this.#tell(), wait);
  }

  /** Calls the listener now if something moved since its last call: a caller's call has ended. */
  report(): void {
    if (this.#unreported) this.#tell();
  }

  /** Reports for the last time. */
  stop(): void {
    this.report();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#listener = undefined;
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unreported = false;
    this.#last = performance.now();
    try {
      this.#listener?.(this.#read());
    } catch {
      this.#listener = undefined;
    }
  }
}
