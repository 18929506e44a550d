/**
 * The core of a publisher, a run or a session: calls in order over one lane, the first failure that ends them all, and
 * the connection's ownership.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type PublishError, StateError } from "../errors/mod.ts";
import { PieceMemory } from "../json/memory/spare.ts";
import type { RowRange } from "../message/prepare.ts";
import type { Settings } from "../options/publisher.ts";
import type { Destinations } from "../stream/destination.ts";
import { shiftedSends } from "../stream/resend.ts";
import type { UsedStreams } from "../stream/used_streams.ts";
import type { Dial, Options, PublisherStats, RowBatch, WriteReceipt } from "../types/mod.ts";
import { deferred } from "../util/deferred.ts";
import { Call, type Failure } from "./call.ts";
import { Calls } from "./calls.ts";
import { connectionFault, type Inbox } from "./connection/inbox.ts";
import { closeConnection, type ConnectionWatch, flushConnection, watchConnection } from "./connection/watch.ts";
import { openWire, type Wire } from "./connection/wire.ts";
import { Turns } from "./encode_turns.ts";
import {
  abortedFailure,
  endError,
  mayLackRow,
  permissionFailure,
  type PublisherState,
  withServerReason,
} from "./failure.ts";
import type { Lane, LaneHost } from "./lanes/lane.ts";
import { Loader, type LoadOptions } from "./load.ts";
import { type Mode, modeOf } from "./mode.ts";
import { type Opened, openParts } from "./opening.ts";
import { type BatchSource, openBatch } from "./prepare_batch.ts";
import { ProgressReporter, PublisherCounts } from "./progress.ts";
import { receiptOf } from "./receipt.ts";

/** How a call is started. */
export interface StartOptions extends LoadOptions {
  /** Aborts the call. */
  readonly signal: AbortSignal | undefined;
}

/** Publishes batches over one connection. */
export class PublisherCore {
  /** The options, resolved. */
  readonly settings: Settings;
  /** Whether the connection is closed with the publisher. */
  readonly ownsConnection: boolean;
  /** Where rows go. */
  readonly destinations: Destinations;
  readonly #nc: NatsConnection;
  readonly #mode: Mode;
  readonly #wire: Wire;
  /** Reused memory. It includes bodies only if the wire copies them, so that the client reads none of them later. */
  readonly #memory: PieceMemory;
  readonly #loader: Loader;
  readonly #lane: Lane;
  readonly #inbox: Inbox;
  readonly #watch: ConnectionWatch;
  readonly #progress: ProgressReporter;
  readonly #turns = new Turns(() => this.#lane.waiting);
  readonly #counts = new PublisherCounts();
  readonly #calls = new Calls(this.#counts, () => this.#noteChange());
  #state: PublisherState = { tag: "open" };
  #closing: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;
  readonly #ended = deferred<void | PublishError>();

  private constructor({ nc, settings, owns, inbox, destinations }: Opened) {
    this.settings = settings;
    this.ownsConnection = owns;
    this.destinations = destinations;
    this.#nc = nc;
    this.#inbox = inbox;
    this.#mode = modeOf(settings);
    this.#wire = openWire(nc, inbox.prefix);
    this.#memory = new PieceMemory({ bodies: !this.#wire.holdsRows });
    this.#loader = new Loader(destinations, settings, this.#memory, this.#turns);
    const host: LaneHost = {
      noteAcknowledged: (rows, duplicates, bytes) => this.#counts.add(rows, duplicates, bytes),
      fail: (failure) => this.fail(failure),
      noteDrained: () => {
        if (this.#state.tag === "failing") void this.#end(this.#state.failure);
      },
      noteChange: () => this.#noteChange(),
    };
    this.#lane = this.#mode.openLane({ nc, wire: this.#wire, settings, inbox: inbox.prefix, host });
    inbox.attach(this.#lane);
    this.#progress = new ProgressReporter(settings.onProgress, () => this.#counts.progress(this.#lane));
    this.#watch = watchConnection(nc, {
      onLost: (reason, cause) => this.#endNow({ code: "publish.disconnected", reason, cause }),
      onRefused: (operation, subject, cause) => this.#failRefused(operation, subject, cause),
    });
  }

  /**
   * Dials if `to` is a function, subscribes to the inbox and checks a shared stream. Closes a connection that it has
   * dialled if one of these fails.
   */
  static async open(to: Dial, options: Options, used?: UsedStreams): Promise<PublisherCore> {
    const parts = await openParts(to, options, used);
    try {
      return new PublisherCore(parts);
    } catch (cause) {
      parts.inbox.close();
      if (parts.owns) await closeConnection(parts.nc);
      throw connectionFault(cause);
    }
  }

  /** Publishes one batch as one call. */
  async publish(batch: RowBatch, signal?: AbortSignal): Promise<WriteReceipt> {
    if (this.#closing !== undefined && this.#state.tag === "open") {
      throw new StateError("state.closed", "Cannot publish: the publisher is closed");
    }
    if (this.error !== undefined) throw this.error;
    const source = this.#counts.countThrown(() => openBatch(batch, this.settings));
    const call = this.start(source, { from: 0, count: source.selected }, { signal, cut: false });
    await call.done.finally(() => this.reportProgress());
    const receipt = receiptOf(call, 0);
    call.free();
    return receipt;
  }

  /** Starts a call that publishes a range of a batch's selected rows. */
  start(source: BatchSource, range: RowRange, options: StartOptions): Call {
    const { signal } = options;
    const call = new Call({
      resource: source.resource,
      count: range.count,
      only: source.only?.slice(range.from, range.from + range.count),
      keepsRows: this.#wire.holdsRows || this.settings.retry !== undefined,
      reportsSequences: this.#mode.reportsSequences,
      earlier: shiftedSends(source.earlier, range.from),
    });
    if (this.#state.tag === "ended") this.#failLate(call, this.#state.failure);
    else if (signal?.aborted) this.#calls.fail(call, abortedFailure(signal.reason));
    else {
      this.#calls.begin(call, signal, (failure) => this.#abortCall(call, failure, !this.ownsConnection));
      if (this.#state.tag === "open") {
        this.#lane.push(call);
        void this.#load(call, source, range, options);
      }
    }
    return call;
  }

  /** Fails a call that begins after the end. The error of the first one is that of all later ones. */
  #failLate(call: Call, failure: Failure): void {
    this.#calls.fail(call, failure);
    const { state } = call;
    const error = this.error ?? (state.tag === "failed" ? state.error as PublishError : undefined);
    this.#state = { tag: "ended", failure, error };
  }

  async #load(call: Call, source: BatchSource, range: RowRange, options: LoadOptions): Promise<void> {
    const wanted = (): boolean => this.#isWanted(call);
    try {
      const loaded = await this.#loader.load(source, range, options, wanted);
      if (loaded === undefined) return;
      call.load(loaded.rows, loaded.destination, this.#memory.outcomes);
      this.#lane.wake();
    } catch (error) {
      if (!wanted()) return;
      this.#lane.cancel(call);
      this.#calls.failWith(call, error);
    }
  }

  /** Whether a call is still to be published: false also if it will fail when the connection is released. */
  #isWanted(call: Call): boolean {
    return !call.isOver && (this.#state.tag === "open" || this.#state.tag === "failing");
  }

  /**
   * Ends one call. If rows of it were submitted, they are unknown, and unless it ends `alone`, the publisher ends with
   * it.
   */
  #abortCall(call: Call, failure: Failure, alone: boolean): void {
    if (!this.#isWanted(call)) return;
    if (call.hasSubmitted && !alone) return this.#endNow({ ...failure, call });
    this.#lane.cancel(call);
    this.#calls.fail(call, failure);
  }

  /** Aborts all calls in progress; outstanding rows are unknown. Ends a publisher that is failing at once. */
  cancelAll(reason: unknown): void {
    if (this.#state.tag !== "open") return this.#endNow(this.#state.failure);
    for (const call of this.#calls.all) this.#abortCall(call, abortedFailure(reason), true);
  }

  /** Ends the publisher, and aborts all calls in progress. */
  abort(reason?: unknown): void {
    this.#endNow(abortedFailure(reason));
  }

  /** Waits for the calls in progress, then releases the inbox and, if the publisher owns it, closes the connection. */
  close(): Promise<void> {
    return this.#closing ??= this.#calls.allEnded().then(async () => {
      const isEnding = this.#state.tag === "ending" || this.#state.tag === "ended";
      await (isEnding ? this.#ended.promise : this.#release());
      this.#ended.resolve();
    });
  }

  /** Resolves when the publisher has ended, with the error that ended it, if any. */
  closed(): Promise<void | PublishError> {
    return this.#ended.promise;
  }

  /** Returns the current state, as the caller sees it. */
  stats(): PublisherStats {
    return {
      connected: this.#watch.isConnected,
      inFlight: this.#lane.inFlight,
      inFlightBytes: this.#lane.inFlightBytes,
      ...this.#counts,
      created: this.destinations.created,
    };
  }

  /** The error that calls after the end are rejected with; undefined before the end. */
  get error(): PublishError | undefined {
    return this.#state.tag === "ended" ? this.#state.error : undefined;
  }

  /** Reports the progress at the end of a caller's call. */
  reportProgress(): void {
    this.#progress.flush();
  }

  /** Submits nothing more, and ends when every row on the wire is answered. Only the first failure counts. */
  fail(failure: Failure): void {
    if (failure.code === "publish.internal") return this.#endNow(failure);
    if (this.#state.tag !== "open") return;
    this.#state = { tag: "failing", failure: withServerReason(failure, this.#watch.reason) };
    this.#lane.stop();
  }

  #noteChange(): void {
    this.#progress.noteChange();
    this.#turns.resume();
  }

  /** Fails the publisher if the server refused an operation of its own: another user of the connection may be meant. */
  #failRefused(operation: string, subject: string, cause: unknown): void {
    const own = operation === "subscription" ? subject.startsWith(this.#inbox.prefix) : this.#calls.haveSentTo(subject);
    if (!own) return;
    const failure = permissionFailure(operation, subject, cause);
    const state = this.#state;
    if ((state.tag === "failing" || state.tag === "ending") && mayLackRow(state.failure, this.#mode.inBatches)) {
      this.#state = { tag: state.tag, failure };
    } else this.fail(failure);
  }

  /** Ends everything at once: outstanding rows are unknown. */
  #endNow(failure: Failure): void {
    const state = this.#state;
    if (state.tag === "ending" || state.tag === "ended") return;
    this.#lane.cut();
    void this.#end(state.tag === "failing" ? state.failure : failure);
  }

  /** Releases the connection first, then fails every call. */
  async #end(failure: Failure): Promise<void> {
    this.#state = { tag: "ending", failure };
    try {
      // The client reports a refused publish later than the answer to its batch, which arrived after it.
      if (mayLackRow(failure, this.#mode.inBatches)) await flushConnection(this.#nc);
      await this.#release();
    } finally {
      const { failure } = this.#state;
      const error = this.#calls.failAll(failure);
      this.#state = { tag: "ended", failure, error };
      this.#ended.resolve(error ?? endError(failure));
    }
  }

  /** Releases the inbox, the lane and the memory, and closes the connection if the publisher owns it. */
  #release(): Promise<void> {
    // Begun in a microtask: `onProgress`, which is called for the last time, may call close() or abort().
    return this.#releasing ??= Promise.resolve().then(() => this.#releaseAll());
  }

  async #releaseAll(): Promise<void> {
    this.#watch.stop();
    this.destinations.close();
    this.#inbox.close();
    this.#lane.cut();
    this.#progress.stop();
    this.#wire.close();
    this.#memory.close();
    this.#turns.resume();
    if (this.ownsConnection) await closeConnection(this.#nc);
  }
}
