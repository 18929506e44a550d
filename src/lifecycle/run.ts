/**
 * Bounded runs: batches with an end.
 *
 * @module
 */

import { StateError } from "../errors/mod.ts";
import { PublisherCore } from "../publish/core.ts";
import { CallSet } from "./call_set.ts";
import { streamChangedError } from "../publish/failure.ts";
import type {
  ApplyAllOptions,
  Batches,
  CallOptions,
  Dial,
  Options,
  PublisherStats,
  ResourceTotal,
  RowBatch,
  RunReceipt,
  WriteReceipt,
} from "../types/mod.ts";
import { applyAll } from "./sequence/apply_all.ts";
import { resolveCall } from "../options/calls.ts";
import { Totals } from "./totals.ts";

/**
 * Opens a bounded run over a connection, or over one that `to` dials and the run then closes.
 *
 * Throws a ConfigError, a ConnectionError or a RouteError; what was dialled is closed then.
 *
 * @example
 * ```ts
 * import { connect, openRun } from "@jetrow/jetrow/deno";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function load(url: string): Promise<number> {
 *   const config = { url, stream: "ORDERS", subject: "orders.{resource}" };
 *   await using run = await openRun(() => connect(config), config);
 *   await run.apply({ resource: "eu", rows: tableFromArrays({ id: [1, 2, 3] }) });
 *   return (await run.commit()).rows;
 * }
 * assert.ok(typeof load === "function");
 * ```
 */
export async function openRun(to: Dial, options: Options): Promise<BoundedRun> {
  return new (BoundedRun as unknown as RunConstructor)(await PublisherCore.open(to, options));
}

/**
 * The constructor is private: a run exists only over an opened publisher. A static block that hands it out would keep the
 * class in every bundle.
 */
type RunConstructor = new (core: PublisherCore) => BoundedRun;

type RunState = "open" | "committed" | "aborted";

/**
 * A bounded run: `apply` any number of times, then `commit` or `abort`. Any failed call ends the run: later calls throw
 * the same error, and what was dialled is closed with the last call in progress. Leaving an `await using` block without
 * a commit aborts.
 *
 * @example
 * ```ts
 * import { BoundedRun, openRun } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * assert.ok(typeof openRun === "function" && BoundedRun.name === "BoundedRun");
 * ```
 */
export class BoundedRun {
  readonly #core: PublisherCore;
  readonly #totals = new Totals();
  readonly #calls: CallSet;
  readonly #aborting = new AbortController();
  #state: RunState = "open";
  #receipt: Promise<RunReceipt> | undefined;

  private constructor(core: PublisherCore) {
    this.#core = core;
    this.#calls = new CallSet(core);
  }

  /**
   * Publishes one batch. Resolves with its receipt when every row is acknowledged.
   *
   * Throws a ConfigError, RouteError, ConnectionError (the lookup of a stream) or EncodeError before anything is sent,
   * a PublishError afterwards, and a StateError after `commit` or `abort`.
   */
  async apply(batch: RowBatch, options: CallOptions = {}): Promise<WriteReceipt> {
    return await this.#call(async () => {
      const receipt = await this.#core.publish(batch, resolveCall(options).signal);
      this.#totals.add(receipt);
      return receipt;
    });
  }

  /**
   * Publishes a sequence of batches, cut into pieces of at most `batchMaxRows` rows and `batchMaxBytes` of Arrow
   * buffers without copying, the next one encoded while the last one's acknowledgments come in. Resolves with the
   * totals of this call by resource. `onReceipt` is called with each piece's receipt, and awaited.
   *
   * Throws as {@linkcode apply} does, and what the sequence or `onReceipt` throws. An error found before sending is
   * thrown before that piece is sent; earlier pieces may already be stored, and `onReceipt` has been called for them. If
   * rows of an earlier piece were rejected or unknown, a PublishError is thrown instead, with this error as its `cause`;
   * its `batch` is the first batch of the sequence with rows that are not acknowledged, and its row outcomes are those
   * of that whole batch.
   */
  async applyAll(batches: Batches, options: ApplyAllOptions = {}): Promise<ResourceTotal[]> {
    return await this.#call(() =>
      applyAll(this.#core, batches, options, this.#aborting.signal, (receipt) => this.#totals.add(receipt))
    );
  }

  /**
   * Waits for the calls in progress and ends the run. Resolves with the totals by resource, sorted by name. Can
   * be called again.
   *
   * Throws the error of a failed call, a StateError after `abort`, and a PublishError `publish.stream_changed` if a
   * stream was deleted since rows were published to it.
   */
  commit(): Promise<RunReceipt> {
    if (this.#state === "aborted") return Promise.reject(stateError("commit", "aborted"));
    this.#state = "committed";
    return this.#receipt ??= this.#commit();
  }

  async #commit(): Promise<RunReceipt> {
    await this.#calls.settled();
    const changed = this.#calls.failed ? undefined : await streamChangedError(this.#core.destinations);
    if (changed !== undefined) this.#calls.fail(changed);
    await this.#core.close();
    this.#calls.throwFailure();
    return this.#totals.receipt();
  }

  /**
   * Ends the run at once: calls in progress end as `publish.aborted`, and with them a commit that waits for them. What
   * is stored stays stored. A committed run is left as it is; an error that a call has thrown is not thrown again.
   */
  async abort(): Promise<void> {
    if (this.#state === "committed" && this.#calls.idle) return await this.#committed();
    if (this.#state === "open") this.#state = "aborted";
    const reason = new DOMException("the run was aborted", "AbortError");
    this.#core.abort(reason);
    this.#aborting.abort(reason);
    await this.#core.close();
    await this.#committed();
  }

  async #committed(): Promise<void> {
    await this.#receipt?.catch(() => {});
  }

  /** What the run's publisher is doing now. */
  stats(): PublisherStats {
    return this.#core.stats();
  }

  /** Aborts, unless the run is committed. Waits for a commit in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#state === "committed" ? this.#committed() : this.abort());
  }

  /** Runs one call. Its failure ends the run. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#state === "aborted") throw stateError("apply", this.#state);
    this.#calls.throwFailure();
    if (this.#state === "committed") throw stateError("apply", this.#state);
    return await this.#calls.run(work);
  }
}

function stateError(call: string, state: Exclude<RunState, "open">): StateError {
  return new StateError(`state.${state}`, `Cannot ${call}: the run is ${state}`);
}
