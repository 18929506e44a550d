/**
 * Atomic delivery: the rows of one call are one batch, which the stream stores whole or not at all (ADR-50).
 *
 * The first row of a stream's first batch is answered before any other is sent: a server that knows no batches would
 * store each row for itself. Rows are staged until the last one commits; a batch that is not committed leaves nothing.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import { batchHeaders } from "../../message/batch_headers.ts";
import type { Settings } from "../../options/publisher.ts";
import { parseCommit, parseStage } from "./atomic_answer.ts";
import { type AtomicBatch, OpenBatches } from "./atomic_batch.ts";
import { DUPLICATE_ID, noteFound, type RowFinder, settle } from "./atomic_settle.ts";
import { statusOf, tokenOf } from "../connection/client_internals.ts";
import type { Delivery } from "../call.ts";
import { now } from "./deadlines.ts";
import { Lane } from "./lane.ts";
import { type Miss, missOf, notResent, STORED_LATE, timedOut } from "../rejection.ts";
import type { LaneHost } from "./pump.ts";
import type { Wire } from "../connection/wire.ts";

/** Streams that are remembered: as many as destinations are. */
const MOST_PROVEN = 1024;

/** The lane of `publishMode: "atomic"`. */
export class AtomicLane extends Lane {
  readonly #wire: Wire;
  readonly #settings: Settings;
  readonly #prefixLength: number;
  readonly #find: RowFinder;
  readonly #batches = new OpenBatches();
  /** Streams that have answered a batch as such, as far as they are remembered. */
  readonly #proven = new Set<string>();
  #submitted = 0;

  /** A lane over a wire; answers' subjects have the token behind `prefixLength` characters. */
  constructor(wire: Wire, settings: Settings, prefixLength: number, host: LaneHost, find: RowFinder) {
    super(settings, host);
    this.#wire = wire;
    this.#settings = settings;
    this.#prefixLength = prefixLength;
    this.#find = find;
  }

  get inFlight(): number {
    return this.#batches.rows;
  }

  get inFlightBytes(): number {
    return this.#batches.bytes;
  }

  get submitted(): number {
    return this.#submitted;
  }

  cancel(delivery: Delivery): void {
    const batch = this.#batches.of(delivery);
    if (batch !== undefined) this.#batches.remove(batch);
    this.backlog.remove(delivery);
    this.#afterAnswer();
  }

  protected override windUp(): void {
    // A batch that is not committed is given up: its rows are unsent.
    const { early } = this.#batches;
    if (early !== undefined) this.#batches.remove(early);
  }

  protected forget(): void {
    this.#batches.clear();
  }

  reply(msg: Msg): void {
    this.pump.noteAnswer();
    const token = tokenOf(msg, this.#prefixLength);
    const batch = this.#batches.take(token);
    if (batch === undefined) return;
    if (token === batch.commitToken) this.#committed(batch, msg.data, statusOf(msg));
    else this.#staged(batch, msg.data, statusOf(msg));
    this.#afterAnswer();
  }

  #staged(batch: AtomicBatch, body: Uint8Array, status: number): void {
    const { delivery } = batch;
    const answer = parseStage(body, status, delivery.destination!.source);
    if (answer.kind === "staged") {
      this.#prove(delivery.destination!.stream);
      return this.#batches.stage(batch);
    }
    const miss = missOf(answer, delivery.destination!.source);
    // Sent with all others, it waits for what the commit is answered: that of an incomplete batch, which says less.
    if (batch.state === "committing") return void (batch.refusal = miss.reason);
    if (answer.kind !== "refused") {
      // The stream that answered so has stored the first row by itself.
      delivery.submit(0);
      delivery.next = 1;
      return this.#missed(batch, { ...miss, stored: "unknown", again: "never" });
    }
    this.#missed(batch, miss);
  }

  #committed(batch: AtomicBatch, body: Uint8Array, status: number): void {
    const { delivery } = batch;
    const { source, stream } = delivery.destination!;
    const answer = parseCommit(body, status, source, batch.id, delivery.count);
    if (answer.kind === "stored") {
      this.#prove(stream);
      if (delivery.mayBeStoredTwice(0)) return this.#missed(batch, STORED_LATE);
      return this.#succeed(batch, answer.first);
    }
    if (answer.kind === "refused" && answer.code === DUPLICATE_ID && delivery.rows!.hasIds) {
      return void this.#search(batch, answer.description);
    }
    const miss = missOf(answer, source);
    this.#missed(batch, batch.refusal === undefined ? miss : { ...miss, reason: `${miss.reason}; ${batch.refusal}` });
  }

  #prove(stream: string): void {
    // A stream that is forgotten is asked again, by its next batch's first row.
    if (this.#proven.size >= MOST_PROVEN) this.#proven.clear();
    this.#proven.add(stream);
  }

  #succeed(batch: AtomicBatch, firstSequence: number): void {
    const { delivery } = batch;
    this.#batches.remove(batch);
    this.backlog.retry.succeeded();
    for (let i = 0; i < delivery.count; i++) delivery.acknowledge(i, firstSequence + i, false);
    this.host.acknowledged(delivery.count, 0, delivery.rows!.bodyBytes);
    delivery.done.resolve();
  }

  async #search(batch: AtomicBatch, description: string): Promise<void> {
    this.#batches.beginSearch(batch);
    const settlement = await settle(batch, description, this.#find);
    if (!this.#batches.has(batch)) return;
    if (settlement.kind === "unknown") this.#missed(batch, settlement.miss);
    else {
      this.#batches.remove(batch);
      const { rows, bytes } = noteFound(batch.delivery, settlement.sequences);
      this.host.acknowledged(rows, rows, bytes);
      if (settlement.kind === "all") batch.delivery.done.resolve();
      else this.host.failed(settlement.failure);
    }
    this.#afterAnswer();
  }

  /** A submission of a whole batch came to nothing, or to nothing known. */
  #missed(batch: AtomicBatch, miss: Miss): void {
    const { delivery } = batch;
    const committed = batch.state === "committing" || batch.state === "searching";
    this.#batches.remove(batch);
    this.#proven.delete(delivery.destination!.stream);
    const stored = committed ? miss.stored : "no";
    if (committed) { for (let i = 0; i < delivery.count; i++) delivery.refuse(i, stored); }
    const safe = stored === "no" || delivery.rows!.allHaveIds;
    if (this.backlog.takeBack(delivery, 0, miss.again, safe, now())) return;
    this.host.failed({ ...miss, delivery });
  }

  #afterAnswer(): void {
    this.pump.proceed();
    this.host.moved();
  }

  /** When something is due: while a batch is open, none is sent again. */
  protected nextDue(): number {
    if (!this.pump.stopped && this.#batches.size === 0) return this.backlog.due;
    return this.#batches.nextDue?.deadline ?? Infinity;
  }

  protected expire(time: number): void {
    for (
      let batch = this.#batches.nextDue;
      batch !== undefined && batch.deadline <= time;
      batch = this.#batches.nextDue
    ) {
      const what = batch.state === "committing" ? "its commit" : "its first row";
      this.#missed(batch, timedOut(`answer to ${what}`, this.#settings.publishTimeout));
    }
  }

  protected submit(time: number): void {
    const { retry } = this.backlog;
    const begin = (delivery: Delivery): boolean => this.#begin(delivery, time);
    const { early } = this.#batches;
    if (early?.state === "staged" && !this.#sendRest(early, time)) return;
    // Batches that are sent again go before all others.
    const free = this.backlog.submitAgain(time, begin) && retry.size === 0;
    if (free && !retry.pausing(time)) this.backlog.submitCalls(begin);
    this.#wire.flush();
  }

  /** Begins a batch; false when it is not its turn: another one is opening, or the window has no room for all of it. */
  #begin(delivery: Delivery, time: number): boolean {
    const rows = delivery.rows!;
    if (rows.count === 0) {
      delivery.allSubmitted();
      return true;
    }
    const bytes = rows.totalSize;
    const { maxInFlight, maxInFlightBytes, publishTimeout } = this.#settings;
    if (this.#batches.rows + rows.count > maxInFlight || this.#batches.bytes + bytes > maxInFlightBytes) return false;
    // A batch that may have to be sent again is answered before the next: stored order stays the order of calls.
    if (this.#batches.early !== undefined || (this.backlog.retry.enabled && this.#batches.size > 0)) return false;
    if (this.#refusesResend(delivery)) return false;
    delivery.firstSent.mark(0, rows.count, time);
    const batch = this.#batches.add(delivery, bytes, time + publishTimeout);
    this.#submitted += rows.count;
    delivery.begun = true;
    if (rows.count > 1) this.#send(batch, 0, batch.stageToken);
    // A server that has answered a stream's batch as one hosts a stream that needs batches (`_nats.req.level`): a later
    // leader knows them too.
    if (rows.count === 1 || this.#proven.has(delivery.destination!.stream)) return this.#sendRest(batch, time);
    return true;
  }

  /** Ends the publisher if a row of a call may be stored, and the stream might store it twice. */
  #refusesResend(delivery: Delivery): boolean {
    for (let i = 0; delivery.hasDoubts && i < delivery.count; i++) {
      const fault = delivery.resendFault(i, this.#settings.publishTimeout);
      if (fault === undefined) continue;
      this.host.failed(notResent(fault, delivery, i));
      return true;
    }
    return false;
  }

  /** Sends all rows but the first one; false if they must not be sent, which ends the publisher. */
  #sendRest(batch: AtomicBatch, time: number): boolean {
    const { delivery } = batch;
    // The commit is the submission of all rows: until it is sent nothing of the batch can be stored.
    if (this.#refusesResend(delivery)) return false;
    const last = delivery.count - 1;
    for (let i = 1; i < last; i++) this.#send(batch, i, undefined);
    this.#send(batch, last, batch.commitToken);
    this.#wire.flush();
    this.#batches.commit(batch, time + this.#settings.publishTimeout);
    for (let i = 0; i <= last; i++) delivery.submit(i);
    delivery.next = delivery.count;
    delivery.allSubmitted();
    return true;
  }

  #send(batch: AtomicBatch, index: number, token: number | undefined): void {
    const { rows } = batch.delivery;
    this.#wire.sendExtended(rows!, index, token, batchHeaders(batch.id, index, index === rows!.count - 1));
  }
}
