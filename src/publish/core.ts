/**
 * A publisher's inner works: calls in order over one lane, the first failure that ends them all, and the connection's
 * ownership.
 *
 * @module
 */

import { shiftedSends } from "../stream/resend.ts";
import type { NatsConnection } from "@nats-io/nats-core";
import { type PublishError, StateError } from "../errors/mod.ts";
import { PieceMemory } from "../json/memory/spare.ts";
import type { RowRange } from "../message/prepare.ts";
import type { Settings } from "../options/publisher.ts";
import type { Destinations } from "../stream/destination.ts";
import type { UsedStreams } from "../stream/used_streams.ts";
import type { Dial, Options, PublisherStats, RowBatch, WriteReceipt } from "../types/mod.ts";
import { type BatchSource, openBatch } from "./prepare_batch.ts";
import { type Call, Calls } from "./calls.ts";
import { closeConnection, type ConnectionWatch, isClosed, watchConnection } from "./connection/watch.ts";
import { Delivery, type Failure } from "./call.ts";
import { abortedFailure, endError, explained, publishError } from "./failure.ts";
import { connectionFault, type Inbox } from "./connection/inbox.ts";
import { deferred } from "../util/deferred.ts";
import type { Lane, LaneHost } from "./lanes/lane.ts";
import { type BeforeSending, Loader } from "./load.ts";
import { mostRowsOfPiece, openLane } from "./mode.ts";
import { type Opened, openParts } from "./opening.ts";
import { ProgressTeller } from "./progress.ts";
import { receiptOf } from "./receipt.ts";
import { Tally } from "./tally.ts";
import { Turns } from "./encode_turns.ts";
import { openWire, type Wire } from "./connection/wire.ts";

/** What a publisher, a run and a session are made of. */
export class PublisherCore implements LaneHost {
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
  readonly #calls = new Calls(this.#tally, () => this.moved());
  #connected = true;
  #failure: Failure | undefined;
  #error: PublishError | undefined;
  #closing: Promise<void> | undefined;
  #released = false;
  #ended = false;
  #ending: Promise<void> | undefined;
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
    this.#lane = openLane(nc, this.#wire, settings, inbox, this);
    this.#progress = new ProgressTeller(settings.onProgress, () => this.#tally.progress(this.#lane));
    this.#watch = watchConnection(nc, {
      lost: (reason, cause) => this.#lost(reason, cause),
      refused: (operation, subject, cause) => this.#refused(operation, subject, cause),
    });
  }

  /** Dials where a function was given, subscribes, checks a shared stream. What was dialled is closed on failure. */
  static async open(to: Dial, options: Options, used?: UsedStreams): Promise<PublisherCore> {
    const opening: { core?: PublisherCore } = {};
    const parts = await openParts(to, options, (msg) => opening.core?.reply(msg), used);
    try {
      return opening.core = new PublisherCore(parts);
    } catch (cause) {
      parts.inbox.close();
      if (parts.owns) await closeConnection(parts.nc);
      throw connectionFault(cause);
    }
  }

  /** Publishes one batch whole. */
  async publish(batch: RowBatch, signal?: AbortSignal): Promise<WriteReceipt> {
    if (this.#closing !== undefined && this.#failure === undefined) {
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
    if (this.#ended) throw this.#error = publishError(this.#failure!, rows);
    if (signal?.aborted) throw publishError(abortedFailure(signal.reason), rows);
    return source;
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
    const delivery = new Delivery(keepsRows, shiftedSends(source.earlier, range.from));
    const only = source.only?.slice(range.from, range.from + range.count);
    const call: Call = { resource: source.resource, count: range.count, only, delivery };
    if (this.#ended || signal?.aborted) {
      this.#calls.fail(call, this.#ended ? this.#failure! : abortedFailure(signal!.reason));
      return delivery;
    }
    this.#calls.begin(call, signal, (failure) => this.#abortCall(call, failure, !this.ownsConnection));
    // While a failure waits for what is on the wire, a call waits with it: it ends unsent.
    if (this.#failure === undefined) {
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

  /**
   * Ends all calls in progress as aborted; the publisher stays usable, and their outstanding rows are unknown. Where it
   * has failed, nothing is waited for any more.
   */
  cancelAll(reason: unknown): void {
    if (this.#failure !== undefined) return this.#end(this.#failure);
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
      wire: this.#wire.kind,
      created: this.destinations.created,
    };
  }

  /** The error that ended it. */
  get error(): PublishError | undefined {
    return this.#error;
  }

  /** Rows that a piece of a sequence may have, whatever its caller asks for. */
  get mostRowsOfPiece(): number {
    return mostRowsOfPiece(this.settings);
  }

  /** Reports the progress at the end of a caller's call. */
  reportProgress(): void {
    this.#progress.report();
  }

  /** An answer below the inbox. */
  reply(msg: Parameters<Lane["reply"]>[0]): void {
    this.#lane.reply(msg);
  }

  acknowledged(rows: number, duplicates: number, bytes: number): void {
    this.#tally.add(rows, duplicates, bytes);
  }

  failed(failure: Failure): void {
    if (failure.code === "publish.internal") return this.#end(failure);
    if (this.#failure !== undefined) return;
    this.#failure = explained(failure, this.#watch.reason);
    this.#lane.stop();
  }

  drained(): void {
    if (this.#failure !== undefined) this.#ending ??= this.#failAll();
  }

  moved(): void {
    this.#progress.moved();
    this.#turns.moved();
  }

  #lost(reason: string, cause: unknown): void {
    this.#connected = false;
    if (this.#ending === undefined && !this.#released) this.#end({ code: "publish.disconnected", reason, cause });
  }

  #refused(operation: string, subject: string, cause: unknown): void {
    const ours = operation === "subscription"
      ? subject.startsWith(this.#inbox.prefix)
      : this.#calls.haveSentTo(subject);
    if (ours) {
      const reason = `the server refused a ${operation} to ${JSON.stringify(subject)}: the user may not`;
      this.failed({ code: "publish.permission", reason, cause });
    }
  }

  /** Ends everything at once: what is outstanding is unknown. */
  #end(failure: Failure): void {
    this.#failure ??= failure;
    this.#lane.cut();
    this.#ending ??= this.#failAll();
  }

  /** The end after a failure: releases everything first, then ends every call with its error. */
  async #failAll(): Promise<void> {
    for (const { delivery } of this.#calls.all) delivery.over = true;
    try {
      await this.#letGo();
    } finally {
      this.#ended = true;
      const failure = this.#failure!;
      this.#error ??= this.#calls.failAll(failure);
      this.#gone.resolve(this.#error ?? endError(failure));
    }
  }

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
