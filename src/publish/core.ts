/**
 * A publisher's inner works: calls in order over one lane, the first failure that ends them all, and the connection's
 * ownership.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type PublishError, StateError } from "../errors/mod.ts";
import { PieceMemory } from "../json/memory/spare.ts";
import type { RowRange } from "../message/prepare.ts";
import type { Settings } from "../options/publisher.ts";
import type { Destinations } from "../stream/destination.ts";
import type { UsedStreams } from "../stream/used_streams.ts";
import type { Dial, Options, PublisherStats, RowBatch, WriteReceipt } from "../types/mod.ts";
import { type BatchSource, openBatch } from "./prepare_batch.ts";
import { type Call, Calls, newCall } from "./calls.ts";
import { closeConnection, type ConnectionWatch, isClosed, watchConnection } from "./connection/watch.ts";
import type { Delivery, Failure } from "./call.ts";
import { abortedFailure, endError, explained, permissionFailure, publishError, type State } from "./failure.ts";
import { connectionFault, type Inbox } from "./connection/inbox.ts";
import { deferred } from "../util/deferred.ts";
import type { Lane } from "./lanes/lane.ts";
import type { LaneHost } from "./lanes/pump.ts";
import { type BeforeSending, Loader } from "./load.ts";
import { modeOf } from "./mode.ts";
import { type Opened, openParts } from "./opening.ts";
import { ProgressTeller } from "./progress.ts";
import { receiptOf } from "./receipt.ts";
import { Tally } from "./tally.ts";
import { Turns } from "./encode_turns.ts";
import { openWire, type Wire } from "./connection/wire.ts";

/** What a publisher, a run and a session are made of. */
export class PublisherCore {
  /** The options, resolved. */
  readonly settings: Settings;
  /** Whether the connection is closed with the publisher. */
  readonly ownsConnection: boolean;
  /** Where rows go. */
  readonly destinations: Destinations;
  readonly #nc: NatsConnection;
  readonly #wire: Wire;
  /** Memory that is reused: for bodies only if the wire copies them, so that nothing reads them after that. */
  readonly #memory: PieceMemory;
  readonly #loader: Loader;
  readonly #lane: Lane;
  readonly #inbox: Inbox;
  readonly #watch: ConnectionWatch;
  readonly #progress: ProgressTeller;
  readonly #turns = new Turns(() => this.#lane.waiting);
  readonly #tally = new Tally();
  readonly #calls = new Calls(this.#tally, () => this.#moved());
  #state: State = { tag: "open" };
  /** What publish() throws after the end. */
  #error: PublishError | undefined;
  /** The end after a failure. */
  #ending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #released = false;
  #connected = true;
  readonly #gone = deferred<void | PublishError>();

  private constructor({ nc, settings, owns, inbox, destinations }: Opened) {
    this.settings = settings;
    this.ownsConnection = owns;
    this.#nc = nc;
    this.#inbox = inbox;
    this.destinations = destinations;
    this.#wire = openWire(nc, inbox.prefix);
    this.#memory = new PieceMemory({ bodies: !this.#wire.holdsRows });
    this.#loader = new Loader(destinations, settings, this.#memory, this.#turns);
    const host: LaneHost = {
      acknowledged: (rows, duplicates, bytes) => this.#tally.add(rows, duplicates, bytes),
      failed: (failure) => this.fail(failure),
      drained: () => {
        if (this.#state.tag === "failing") this.#ending ??= this.#failAll(this.#state.failure);
      },
      moved: () => this.#moved(),
    };
    this.#lane = modeOf(settings).openLane({ nc, wire: this.#wire, settings, inbox, host });
    this.#progress = new ProgressTeller(settings.onProgress, () => this.#tally.progress(this.#lane));
    this.#watch = watchConnection(nc, {
      lost: (reason, cause) => this.#lost(reason, cause),
      refused: (operation, subject, cause) => this.#refused(operation, subject, cause),
    });
  }

  /** Dials where a function was given, subscribes, checks a shared stream. What was dialled is closed on failure. */
  static async open(to: Dial, options: Options, used?: UsedStreams): Promise<PublisherCore> {
    const opening: { lane?: Lane } = {};
    const parts = await openParts(to, options, (msg) => opening.lane?.reply(msg), used);
    try {
      const core = new PublisherCore(parts);
      opening.lane = core.#lane;
      return core;
    } catch (cause) {
      parts.inbox.close();
      if (parts.owns) await closeConnection(parts.nc);
      throw connectionFault(cause);
    }
  }

  /** Publishes one batch whole. */
  async publish(batch: RowBatch, signal?: AbortSignal): Promise<WriteReceipt> {
    if (this.#closing !== undefined && this.#state.tag === "open") {
      throw new StateError("state.closed", "Cannot publish: the publisher is closed");
    }
    if (this.#error !== undefined) throw this.#error;
    const source = this.#tally.counted(() => this.#open(batch, signal));
    const delivery = this.start(source, { from: 0, count: source.selected }, signal, false);
    await delivery.done.promise.finally(() => this.reportProgress());
    const receipt = receiptOf(delivery, 0);
    delivery.free();
    return receipt;
  }

  #open(batch: RowBatch, signal?: AbortSignal): BatchSource {
    const source = openBatch(batch, this.settings);
    const rows = { resource: source.resource, count: source.selected, only: source.only };
    const failure = this.#hindrance(signal);
    if (failure === undefined) return source;
    const error = publishError(failure, rows);
    if (this.#state.tag === "ended") this.#error = error;
    throw error;
  }

  /** Why no call can begin. */
  #hindrance(signal: AbortSignal | undefined): Failure | undefined {
    if (this.#state.tag === "ended") return this.#state.failure;
    return signal?.aborted ? abortedFailure(signal.reason) : undefined;
  }

  /**
   * Starts to publish a range of a batch's selected rows; with `cut`, of fewer where their bodies pass a piece's limit.
   */
  start(
    source: BatchSource,
    range: RowRange,
    signal: AbortSignal | undefined,
    cut: boolean,
    before?: BeforeSending,
  ): Delivery {
    const keepsRows = this.#wire.holdsRows || this.settings.retry !== undefined;
    const call = newCall(source, range, keepsRows);
    const { delivery } = call;
    const over = this.#hindrance(signal);
    if (over !== undefined) {
      this.#calls.fail(call, over);
      return delivery;
    }
    this.#calls.begin(call, signal, (failure) => this.#abortCall(call, failure, !this.ownsConnection));
    if (this.#state.tag === "open") {
      this.#lane.push(delivery);
      delivery.done.promise.then(() => this.#calls.end(call), () => {});
      void this.#load(call, source, range, cut, before);
    }
    return delivery;
  }

  async #load(call: Call, source: BatchSource, range: RowRange, cut: boolean, before?: BeforeSending): Promise<void> {
    const { delivery } = call;
    try {
      const loaded = await this.#loader.load(source, range, cut, () => !delivery.over, before);
      if (loaded === undefined) return;
      delivery.load(loaded.rows, loaded.destination, this.#memory.fates);
      delivery.loaded.resolve();
      this.#lane.wake();
    } catch (error) {
      if (delivery.over) return;
      this.#lane.cancel(delivery);
      this.#calls.end(call, error);
    }
  }

  /**
   * Ends one call: without a trace where nothing of it was sent, else with its rows unknown, and with all others where
   * `alone` is false.
   */
  #abortCall(call: Call, failure: Failure, alone: boolean): void {
    const { delivery } = call;
    // A call whose rows are all acknowledged has succeeded, though its promise has not resolved yet.
    if (delivery.over || delivery.complete) return;
    if (delivery.sent && !alone) return this.#end({ ...failure, delivery });
    this.#lane.cancel(delivery);
    this.#calls.fail(call, failure);
  }

  /** Ends all calls in progress as aborted; outstanding rows are unknown. Ends a publisher that is failing at once. */
  cancelAll(reason: unknown): void {
    if (this.#state.tag !== "open") return this.#end(this.#state.failure);
    for (const call of this.#calls.all) this.#abortCall(call, abortedFailure(reason), true);
  }

  /** Ends the publisher, and all calls in progress as aborted. */
  abort(reason?: unknown): void {
    this.#end(abortedFailure(reason));
  }

  /** Waits for the calls in progress, then lets go of the inbox and, where it is owned, of the connection. */
  close(): Promise<void> {
    return this.#closing ??= this.#calls.allEnded().then(async () => {
      await (this.#ending ?? this.#letGo());
      this.#gone.resolve();
    });
  }

  /** Resolves when it has ended, with the error that ended it, if any. */
  closed(): Promise<void | PublishError> {
    return this.#gone.promise;
  }

  /** What the publisher is doing. */
  stats(): PublisherStats {
    return {
      connected: this.#connected && !isClosed(this.#nc),
      inFlight: this.#lane.inFlight,
      inFlightBytes: this.#lane.inFlightBytes,
      ...this.#tally,
      created: this.destinations.created,
    };
  }

  /** The error that ended it. */
  get error(): PublishError | undefined {
    return this.#error;
  }

  /** Reports the progress at the end of a caller's call. */
  reportProgress(): void {
    this.#progress.report();
  }

  /** Submits nothing more, and ends the publisher once what is on the wire is answered. Only the first failure counts. */
  fail(failure: Failure): void {
    if (failure.code === "publish.internal") return this.#end(failure);
    if (this.#state.tag !== "open") return;
    this.#state = { tag: "failing", failure: explained(failure, this.#watch.reason) };
    this.#lane.stop();
  }

  #moved(): void {
    this.#progress.moved();
    this.#turns.moved();
  }

  #lost(reason: string, cause: unknown): void {
    this.#connected = false;
    if (this.#ending === undefined && !this.#released) {
      this.#end({ code: "publish.disconnected", reason, cause });
    }
  }

  #refused(operation: string, subject: string, cause: unknown): void {
    const ours = operation === "subscription"
      ? subject.startsWith(this.#inbox.prefix)
      : this.#calls.haveSentTo(subject);
    if (ours) this.fail(permissionFailure(operation, subject, cause));
  }

  /** Ends everything at once: what is outstanding is unknown. */
  #end(failure: Failure): void {
    if (this.#state.tag === "open") this.#state = { tag: "failing", failure };
    this.#lane.cut();
    this.#ending ??= this.#failAll(this.#state.failure);
  }

  /** Releases everything first, then ends every call with its error. */
  async #failAll(failure: Failure): Promise<void> {
    for (const { delivery } of this.#calls.all) delivery.over = true;
    try {
      await this.#letGo();
    } finally {
      this.#state = { tag: "ended", failure };
      this.#error ??= this.#calls.failAll(failure);
      this.#gone.resolve(this.#error ?? endError(failure));
    }
  }

  /** Lets go of the inbox and the lane, and of the connection if it is owned. */
  async #letGo(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#watch.stop();
    this.destinations.close();
    this.#inbox.close();
    this.#lane.cut();
    this.#progress.stop();
    this.#wire.close();
    this.#memory.close();
    this.#turns.moved();
    if (this.ownsConnection) await closeConnection(this.#nc);
  }
}
