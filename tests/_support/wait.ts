/**
 * Waits for a condition by polling.
 *
 * @module
 */

/** The timeout and the interval. */
export interface WaitOptions {
  /** The timeout in milliseconds. @default {120000}: the condition holds soon unless the machine is busy */
  readonly within?: number;
  /** The interval in milliseconds. @default {20} */
  readonly every?: number;
}

/**
 * Calls `question` until it returns a value. What it throws counts as no value; the last error is the `cause` of the
 * timeout error.
 *
 * @param what the condition, for the error
 * @param question returns `undefined` or `false` while the condition does not hold
 * @param options timeout and interval
 * @returns the value
 */
export async function until<T>(
  what: string,
  question: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const { within = 120_000, every = 20 } = options;
  const end = Date.now() + within;
  let cause: unknown;
  while (true) {
    try {
      const answer = await question();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      if (error instanceof GiveUp) throw error;
      cause = error;
    }
    if (Date.now() >= end) throw new Error(`waited ${within} ms for ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

/** Thrown by a question that can no longer succeed. */
export class GiveUp extends Error {
  override name = "GiveUp";
}
