/**
 * What a publisher has done since it was opened.
 *
 * @module
 */

import type { Progress } from "../types/mod.ts";

/** Counts that only grow. */
export class Tally {
  /** Rows acknowledged as new. */
  acked = 0;
  /** Rows that the streams had already. */
  duplicates = 0;
  /** Bytes of JSON of both. */
  bytes = 0;
  /** Calls that failed. */
  failures = 0;

  /** Does a part of a call, which has failed where that throws. */
  counted<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.failures++;
      throw error;
    }
  }

  /** What a listener of progress receives: these counts, and what a lane has in flight. */
  progress({ submitted, inFlight, inFlightBytes }: Omit<Progress, "acked" | "bytes">): Progress {
    return { submitted, acked: this.acked + this.duplicates, bytes: this.bytes, inFlight, inFlightBytes };
  }

  /** Rows were acknowledged, so many of them as duplicates. */
  add(rows: number, duplicates: number, bytes: number): void {
    this.acked += rows - duplicates;
    this.duplicates += duplicates;
    this.bytes += bytes;
  }
}
