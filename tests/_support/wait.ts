/**
 * Waiting for a condition by asking for it.
 *
 * @module
 */

/** How long and how often is asked. */
export interface WaitOptions {
  /** Milliseconds until it is given up. @default {120000}: what is waited for comes at once unless the machine is busy */
  readonly within?: number;
  /** Milliseconds between two questions. @default {20} */
  readonly every?: number;
}

/**
 * Asks until the answer is something. What a question throws counts as no answer; the last one is the `cause` when it
 * is given up.
 *
 * @param what what is waited for, for the error
 * @param question answers `undefined` or `false` while it is not so yet
 * @param options how long and how often
 * @returns the answer
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

/** Thrown by a question whose answer will not come any more. */
export class GiveUp extends Error {
  override name = "GiveUp";
}
