/**
 * Continuous sessions: a feed without an end, in epochs.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError, PublishError, StateError } from "../errors/mod.ts";
import { PublisherCore } from "../publish/core.ts";
import { CallSet } from "./call_set.ts";
import { streamChangedError } from "../publish/failure.ts";
import { closeHandedOver } from "../publish/opening.ts";
import type {
  ApplyAllOptions,
  Batches,
  CallOptions,
  Dial,
  EpochRef,
  Options,
  PublisherStats,
  ResourceTotal,
  RowBatch,
  WriteReceipt,
} from "../types/mod.ts";
import { applyAll } from "./sequence/apply_all.ts";
import { resolveCall } from "../options/calls.ts";
import { abort, apply, begin, commit, committed, type EpochState, type EpochStep, OPENED } from "./epoch.ts";
import { Totals } from "./totals.ts";

/**
 * Opens a session of one attempt over a connection, or over one that `to` dials and the session then closes.
 *
 * Throws a ConfigError, a ConnectionError or a RouteError; what was dialled is closed then.
 *
 * @example
 * ```ts
 * import { connect, openSession } from "@jetrow/jetrow/deno";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function feed(url: string): Promise<void> {
 *   const config = { url, stream: "ORDERS", subject: "orders.{resource}" };
 *   await using session = await openSession(() => connect(config), config, "attempt-1");
 *   const ref = { attempt: "attempt-1", epoch: 1 };
 *   await session.beginEpoch(ref);
 *   await session.apply({ resource: "eu", rows: tableFromArrays({ id: [1, 2, 3] }) }, ref);
 *   const [total] = await session.commitEpoch(ref);
 *   assert.ok(total?.rows === 3);
 *   await session.close();
 * }
 * assert.ok(typeof feed === "function");
 * ```
 */
export async function openSession(to: Dial, options: Options, attempt: string): Promise<EpochSession> {
  if (typeof attempt !== "string" || attempt === "") {
    await closeHandedOver(to, options);
    throw new ConfigError("config.type", {
      field: "attempt",
      rule: "must be a non-empty string",
      received: describe(attempt),
    });
  }
  return new (EpochSession as unknown as SessionConstructor)(await PublisherCore.open(to, options), attempt);
}

/**
 * The constructor is private: a session exists only over an opened publisher. A static block that hands it out would keep
 * the class in every bundle.
 */
type SessionConstructor = new (core: PublisherCore, attempt: string) => EpochSession;

/** What belongs to the epoch that is active. */
interface Epoch {
  readonly totals: Totals;
  readonly abort: AbortController;
}

/**
 * A continuous session: a sequence of epochs, each begun, applied to, and committed or aborted. A call in a wrong order
 * throws a StateError and changes nothing. A failed `apply` poisons the session: begin, apply and commit then throw its
 * error, and a dialled connection is closed with the last call in progress. Abort and close still work.
 *
 * Epochs only count: consumers see rows as soon as they are stored, also those of an aborted epoch.
 *
 * @example
 * ```ts
 * import { EpochSession, openSession } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * assert.ok(typeof openSession === "function" && EpochSession.name === "EpochSession");
 * ```
 */
export class EpochSession {
  /** The attempt that the session is bound to. */
  readonly attempt: string;
  readonly #core: PublisherCore;
  readonly #calls: CallSet;
  #state: EpochState = OPENED;
  #epoch: Epoch | undefined;
  /** The commit in progress. */
  #commit: Promise<ResourceTotal[]> | undefined;
  /** The last one that went well. */
  #lastCommit: Promise<ResourceTotal[]> | undefined;
  /** The first error that left a row's fate unknown. */
  #uncertain: PublishError | undefined;
  #closing: Promise<void> | undefined;

  private constructor(core: PublisherCore, attempt: string) {
    this.#core = core;
    this.#calls = new CallSet(core);
    this.attempt = attempt;
  }

  /**
   * Begins an epoch: any positive one first, then the one after the last committed; one at a time. Throws a StateError.
   */
  // deno-lint-ignore require-await -- async, so that a mistake rejects as it does for the other calls
  async beginEpoch(ref: EpochRef): Promise<void> {
    this.#refuse("begin");
    this.#state = this.#step(begin, "begin", ref, "go").state;
    this.#epoch = { totals: new Totals(), abort: new AbortController() };
  }

  /**
   * Publishes one batch in the active epoch. Resolves with its receipt when every row is acknowledged.
   *
   * Throws a StateError for any other epoch, and what the publisher throws; that poisons the session, unless the epoch
   * was aborted meanwhile.
   */
  async apply(batch: RowBatch, ref: EpochRef, options: CallOptions = {}): Promise<WriteReceipt> {
    return await this.#call(ref, async ({ totals }) => {
      const receipt = await this.#core.publish(batch, resolveCall(options).signal);
      totals.add(receipt);
      return receipt;
    });
  }

  /**
   * Publishes a sequence of batches in the active epoch, piece by piece; what `BoundedRun.applyAll` says of pieces,
   * receipts and errors holds here.
   */
  async applyAll(batches: Batches, ref: EpochRef, options: ApplyAllOptions = {}): Promise<ResourceTotal[]> {
    return await this.#call(
      ref,
      ({ abort, totals }) => applyAll(this.#core, batches, options, abort.signal, (receipt) => totals.add(receipt)),
    );
  }

  /**
   * Waits for the calls in progress and commits the active epoch. Resolves with the totals by resource, sorted by name,
   * and with the same again when repeated while idle. Throws a StateError for any other epoch, a failed call's error,
   * and a PublishError `publish.stream_changed` if a stream was deleted since rows of the epoch were sent to it.
   */
  async commitEpoch(ref: EpochRef): Promise<ResourceTotal[]> {
    this.#refuse("commit");
    const step = this.#step(commit, "commit", ref);
    if (step.kind === "go") {
      this.#state = step.state;
      this.#commit = this.#committed(this.#epoch!, ref);
    }
    const totals = this.#state.kind === "committing" ? this.#commit : this.#lastCommit;
    return [...await totals!];
  }

  async #committed(epoch: Epoch, ref: EpochRef): Promise<ResourceTotal[]> {
    await this.#calls.settled();
    await this.#checkStreams(epoch);
    if (epoch.abort.signal.aborted) {
      throw new StateError("state.aborted", `Cannot commit epoch ${ref.epoch}: it was aborted meanwhile`);
    }
    this.#calls.throwFailure();
    this.#state = committed(this.#state);
    this.#lastCommit = this.#commit;
    return epoch.totals.list();
  }

  /** Poisons the session if a stream was deleted since rows of the epoch were sent to it. */
  async #checkStreams({ abort }: Epoch): Promise<void> {
    if (abort.signal.aborted || this.#calls.failed) return;
    const error = await streamChangedError(this.#core.destinations);
    if (error === undefined) return;
    this.#uncertain ??= error;
    this.#calls.fail(error);
    await this.#core.close();
  }

  /**
   * Ends the calls in progress and drops the epoch's accounting; what is stored stays stored. A no-op for any epoch of
   * the attempt when none is active. Throws a StateError for another epoch than the active one.
   */
  async abortEpoch(ref: EpochRef): Promise<void> {
    this.#refuseClosed("abort");
    const step = this.#step(abort, "abort", ref);
    if (step.kind === "go") await this.#drop(step.state, `epoch ${ref.epoch} was aborted`);
  }

  async #drop(state: EpochState, reason: string): Promise<void> {
    this.#state = state;
    const cause = new DOMException(reason, "AbortError");
    const epoch = this.#epoch;
    this.#epoch = undefined;
    this.#core.cancelAll(cause);
    epoch?.abort.abort(cause);
    await this.#calls.settled();
  }

  /**
   * Ends the session: an epoch still active is dropped. Repeats its result when called again.
   *
   * Throws a PublishError of outcome `uncertain` when a row's fate is unknown, and any other failure that poisoned the
   * session.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    await this.#drop({ kind: "closed" }, "the session was closed");
    await this.#core.close();
    // A sequence may have ended with a later piece's fault before the rows of an earlier one were given up.
    const uncertain = this.#uncertain ?? (this.#core.error?.outcome === "uncertain" ? this.#core.error : undefined);
    if (uncertain !== undefined) throw unproven(uncertain);
    this.#calls.throwFailure();
  }

  /** What the session's publisher is doing now. */
  stats(): PublisherStats {
    return this.#core.stats();
  }

  /** Closes the session; every failure that `close` would throw again has been thrown by the call that failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close().catch(() => {});
  }

  async #call<T>(ref: EpochRef, work: (epoch: Epoch) => Promise<T>): Promise<T> {
    this.#refuse("apply");
    this.#step(apply, "apply", ref);
    const epoch = this.#epoch!;
    return await this.#calls.run(() => work(epoch), (error) => {
      if (!(error instanceof PublishError)) return true;
      if (error.outcome === "uncertain") this.#uncertain ??= error;
      // What `abortEpoch` ended has not failed.
      return !(epoch.abort.signal.aborted && error.code === "publish.aborted");
    });
  }

  #refuseClosed(call: string): void {
    if (this.#closing !== undefined) {
      throw new StateError("state.closed", `Cannot ${call} an epoch: the session is closed`);
    }
  }

  #refuse(call: string): void {
    this.#refuseClosed(call);
    this.#calls.throwFailure();
  }

  #step(machine: (state: EpochState, epoch: number) => EpochStep, call: string, ref: EpochRef, only: "go"): Go;
  #step(machine: (state: EpochState, epoch: number) => EpochStep, call: string, ref: EpochRef): Go | Repeat;
  #step(machine: (state: EpochState, epoch: number) => EpochStep, call: string, ref: EpochRef): Go | Repeat {
    const { attempt, epoch } = typeof ref === "object" && ref !== null ? ref : { attempt: undefined, epoch: NaN };
    const step: EpochStep = attempt === this.attempt
      ? machine(this.#state, epoch)
      : { kind: "mismatch", rule: `the session is of attempt ${describe(this.attempt)}` };
    if (step.kind !== "mismatch") return step;
    throw new StateError(
      "state.epoch_mismatch",
      `Cannot ${call} epoch ${describe(epoch)} of attempt ${describe(attempt)}: ${step.rule}`,
    );
  }
}

type Go = Extract<EpochStep, { kind: "go" }>;
type Repeat = Extract<EpochStep, { kind: "repeat" }>;

function unproven(error: PublishError): PublishError {
  const { counts } = error.rowOutcomes;
  return new PublishError(
    error.code,
    `Cannot close the session cleanly: destination quiescence is unproven: the fate of ${counts.unknown} rows is ` +
      `unknown: ${error.message}`,
    {
      outcome: "uncertain",
      rowOutcomes: error.rowOutcomes,
      batch: error.batch,
      row: error.row,
      serverCode: error.serverCode,
      cause: error,
    },
  );
}
