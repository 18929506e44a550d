/**
 * The calls of a run or a session: the first one that fails ends it for the others.
 *
 * @module
 */

import type { PublisherCore } from "../publish/core.ts";

/** Calls over one publisher. After a failure the publisher is closed with the last call in progress. */
export class CallSet {
  readonly #core: PublisherCore;
  readonly #inProgress = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | undefined;

  /** No calls yet. */
  constructor(core: PublisherCore) {
    this.#core = core;
  }

  /** Whether no call is in progress. */
  get idle(): boolean {
    return this.#inProgress.size === 0;
  }

  /** Whether a call has failed. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Throws the error of the call that failed first, if any. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Notes a failure, unless there is one already. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Runs a call. An error counts as a failure if `isFailure` says so. */
  async run<T>(work: () => Promise<T>, isFailure: (error: unknown) => boolean = () => true): Promise<T> {
    const result = work();
    this.#inProgress.add(result);
    try {
      return await result;
    } catch (error) {
      if (isFailure(error)) this.fail(error);
      throw error;
    } finally {
      this.#inProgress.delete(result);
      if (this.failed && this.idle) await this.#core.close();
    }
  }

  /** Waits for the calls in progress, however they end. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inProgress);
  }
}
