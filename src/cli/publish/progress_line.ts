/**
 * Shows progress to a person: by a line that is overwritten on a terminal, or by a line every few seconds.
 *
 * @module
 */

import type { Progress } from "../../types/mod.ts";
import type { TextOut } from "../io.ts";
import { formatNumber } from "../report.ts";

/** How progress is shown. */
export type ProgressStyle = "line" | "plain" | "none";

/** The time between two plain lines, in milliseconds. */
const PLAIN_INTERVAL = 5_000;
/** Rates are averages of the last seconds, so that a stall is visible. */
const RATE_SPAN = 3_000;

interface Sample {
  readonly at: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Shows progress. */
export class ProgressLine {
  readonly #out: TextOut;
  readonly #style: ProgressStyle;
  readonly #total: number | undefined;
  readonly #now: () => number;
  readonly #start: Sample;
  readonly #samples: Sample[] = [];
  #lastPlain: number;
  #shown = false;

  /** Shows progress on `out`; `total` is the expected number of rows, if known. */
  constructor(out: TextOut, style: ProgressStyle, total: number | undefined, now: () => number = Date.now) {
    this.#out = out;
    this.#style = style;
    this.#total = total;
    this.#now = now;
    this.#start = { at: now(), rows: 0, bytes: 0 };
    this.#lastPlain = this.#start.at;
  }

  /** Records the progress, and shows it if it is time. */
  show(progress: Progress): void {
    if (this.#style === "none") return;
    const now = this.#now();
    this.#samples.push({ at: now, rows: progress.acked, bytes: progress.bytes });
    while (this.#samples.length > 1 && now - this.#samples[0]!.at > RATE_SPAN) this.#samples.shift();
    if (this.#style === "line") this.#overwrite(this.#text(progress, now));
    else if (now - this.#lastPlain >= PLAIN_INTERVAL) {
      this.#lastPlain = now;
      this.#say(`${this.#text(progress, now)}\n`);
    }
  }

  /** Removes the line, so that other output can be printed. */
  clear(): void {
    if (this.#shown) this.#say("\r\x1b[K");
    this.#shown = false;
  }

  #overwrite(text: string): void {
    const width = (this.#out.columns ?? 80) - 1;
    this.#shown = true;
    this.#say(`\r${text.slice(0, width)}\x1b[K`);
  }

  /** Ignores errors: progress that cannot be shown must not stop the run. */
  #say(text: string): void {
    this.#out.write(text).catch(() => {});
  }

  #text({ acked, bytes, inFlight }: Progress, now: number): string {
    const from = this.#samples.length > 1 ? this.#samples[0]! : this.#start;
    const seconds = Math.max(now - from.at, 1) / 1000;
    const rate = (acked - from.rows) / seconds;
    const parts = [
      this.#total === undefined
        ? `${formatNumber(acked)} rows`
        : `${formatNumber(acked)} of ${formatNumber(this.#total)} rows`,
      ...(this.#total ? [`${Math.floor((100 * acked) / this.#total)}%`] : []),
      `${formatNumber(rate)} rows/s`,
      `${((bytes - from.bytes) / seconds / 1e6).toFixed(1)} MB/s`,
      `${formatNumber(inFlight)} in flight`,
      ...(this.#total !== undefined && rate > 0 ? [`${timeLeft((this.#total - acked) / rate)} left`] : []),
    ];
    return parts.join("  ");
  }
}

/** A time in the largest two units. */
export function timeLeft(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}
