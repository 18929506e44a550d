/**
 * Counts what a publisher has done, and reports its progress to a callback.
 *
 * @module
 */

import type { Progress } from "../types/mod.ts";

/** What a publisher has done since it was opened. */
export class PublisherCounts {
  /** Rows acknowledged as new. */
  acked = 0;
  /** Rows that the streams had already. */
  duplicates = 0;
  /** Bytes of JSON of both. */
  bytes = 0;
  /** Calls that failed. */
  failures = 0;

  /** Adds acknowledged rows; `duplicates` of them are duplicates. */
  add(rows: number, duplicates: number, bytes: number): void {
    this.acked += rows - duplicates;
    this.duplicates += duplicates;
    this.bytes += bytes;
  }

  /** Runs the beginning of a call, and counts the call as failed if it throws. */
  countThrown<T>(begin: () => T): T {
    try {
      return begin();
    } catch (error) {
      this.failures++;
      throw error;
    }
  }

  /** Returns the progress, given what a lane has submitted and has in flight. */
  progress({ submitted, inFlight, inFlightBytes }: Omit<Progress, "acked" | "bytes">): Progress {
    return { submitted, acked: this.acked + this.duplicates, bytes: this.bytes, inFlight, inFlightBytes };
  }
}

/** The shortest time between two reports, in milliseconds. */
const INTERVAL = 100;

/**
 * Calls the caller's `onProgress` at most ten times a second, and at the end of each call. A callback that throws is
 * not called again: its error is not an error of the rows.
 */
export class ProgressReporter {
  readonly #read: () => Progress;
  #listener: ((progress: Progress) => void) | undefined;
  #last = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unreported = false;

  /** Creates a reporter of what `read` returns. Without a callback it does nothing. */
  constructor(listener: ((progress: Progress) => void) | undefined, read: () => Progress) {
    this.#listener = listener;
    this.#read = read;
  }

  /** Notes that something has changed: reports it now or when the interval is over. */
  noteChange(): void {
    this.#unreported = true;
    if (this.#listener === undefined || this.#timer !== undefined) return;
    const wait = this.#last + INTERVAL - performance.now();
    if (wait <= 0) this.#report();
    else this.#timer = setTimeout(() => this.#report(), wait);
  }

  /** Reports now what has changed since the last report. */
  flush(): void {
    if (this.#unreported) this.#report();
  }

  /** Reports for the last time. */
  stop(): void {
    this.flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#listener = undefined;
  }

  #report(): void {
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
