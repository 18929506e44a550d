/**
 * The lane of publish mode `atomic`: the rows of one call are one batch, which the stream stores whole or not at all
 * (ADR-50).
 *
 * The server stages rows until the last one commits the batch; nothing is stored of a batch that is not committed. In
 * the first batch to a stream, the other rows are sent only when the first row is answered: a server that does not know
 * batches would store each row by itself.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import { batchHeaders } from "../../message/batch_headers.ts";
import type { Settings } from "../../options/publisher.ts";
import { DUPLICATE_ID, noteFound, parseCommit, parseStage, type RowFinder, settle } from "./atomic_answer.ts";
import { type AtomicBatch, OpenBatches } from "./atomic_batch.ts";
import { statusOf, tokenOf } from "../connection/client_internals.ts";
import type { Call } from "../call.ts";
import { now } from "./deadlines.ts";
import { Lane, type LaneHost } from "./lane.ts";
import { type Rejection, rejectionOf, resendFailure, STORED_LATE, timeoutRejection } from "../rejection.ts";
import type { Wire } from "../connection/wire.ts";

/** How many streams are remembered: as many as destinations. */
const MOST_PROVEN = 1024;

/** Submits each call as one batch, and settles it by the answer to its commit. */
export class AtomicLane extends Lane {
  readonly #wire: Wire;
  readonly #settings: Settings;
  readonly #prefixLength: number;
  readonly #find: RowFinder;
  readonly #batches = new OpenBatches();
  /** Streams whose server has answered a batch as one: the last ones. */
  readonly #proven = new Set<string>();
  #submitted = 0;

  /** Creates a lane; the token is in an answer's subject after `prefixLength` characters. */
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

  cancel(call: Call): void {
    const batch = this.#batches.of(call);
    if (batch !== undefined) this.#batches.remove(batch);
    this.backlog.remove(call);
    this.#afterAnswer();
  }

  protected override windUp(): void {
    // A batch that is not committed is abandoned: its rows are unsent.
    const { early } = this.#batches;
    if (early !== undefined) this.#batches.remove(early);
  }

  protected forget(): void {
    this.#batches.clear();
  }

  reply(msg: Msg): void {
    this.noteAnswer();
    const token = tokenOf(msg, this.#prefixLength);
    const batch = this.#batches.take(token);
    if (batch === undefined) return;
    if (token === batch.commitToken) this.#handleCommit(batch, msg.data, statusOf(msg));
    else this.#handleStage(batch, msg.data, statusOf(msg));
    this.#afterAnswer();
  }

  #handleStage(batch: AtomicBatch, body: Uint8Array, status: number): void {
    const { call } = batch;
    const answer = parseStage(body, status, call.destination.source);
    if (answer.kind === "staged") {
      this.#prove(call.destination.stream);
      return this.#batches.stage(batch);
    }
    const rejection = rejectionOf(answer, call.destination.source);
    // All rows were sent already, so the answer to the commit decides. It will only say that the batch is incomplete.
    if (batch.state === "committing") return void (batch.refusal = rejection.reason);
    if (answer.kind !== "refused") {
      // Such an answer means that the stream has stored the first row by itself.
      call.submit(0, 1, now());
      return this.#reject(batch, { ...rejection, stored: "unknown", retry: "never" });
    }
    this.#reject(batch, rejection);
  }

  #handleCommit(batch: AtomicBatch, body: Uint8Array, status: number): void {
    const { call } = batch;
    const { source, stream } = call.destination;
    const answer = parseCommit(body, status, source, batch.id, call.count);
    if (answer.kind === "stored") {
      this.#prove(stream);
      if (mayBeStoredTwice(call)) return this.#reject(batch, STORED_LATE);
      return this.#succeed(batch, answer.first);
    }
    if (answer.kind === "refused" && answer.code === DUPLICATE_ID && call.rows.hasIds) {
      return void this.#search(batch, answer.description);
    }
    const rejection = rejectionOf(answer, source);
    this.#reject(
      batch,
      batch.refusal === undefined ? rejection : { ...rejection, reason: `${rejection.reason}; ${batch.refusal}` },
    );
  }

  #prove(stream: string): void {
    // The next batch to a stream that is forgotten waits again for the answer to its first row.
    if (this.#proven.size >= MOST_PROVEN) this.#proven.clear();
    this.#proven.add(stream);
  }

  #succeed(batch: AtomicBatch, firstSequence: number): void {
    const { call } = batch;
    this.#batches.remove(batch);
    this.backlog.retry.noteSuccess();
    for (let i = 0; i < call.count; i++) call.acknowledge(i, firstSequence + i, false);
    this.host.noteAcknowledged(call.count, 0, call.rows.bodyBytes);
    call.settle();
  }

  async #search(batch: AtomicBatch, description: string): Promise<void> {
    this.#batches.beginSearch(batch);
    const settlement = await settle(batch, description, this.#find);
    if (!this.#batches.has(batch)) return;
    if (settlement.kind === "unknown") this.#reject(batch, settlement.rejection);
    else {
      this.#batches.remove(batch);
      const { rows, bytes } = noteFound(batch.call, settlement.sequences);
      this.host.noteAcknowledged(rows, rows, bytes);
      if (settlement.kind === "all") batch.call.settle();
      else this.host.fail(settlement.failure);
    }
    this.#afterAnswer();
  }

  /** Handles a batch that was not stored, or whose outcome is unknown: resends it, or fails the publisher. */
  #reject(batch: AtomicBatch, rejection: Rejection): void {
    const { call } = batch;
    const committed = batch.state === "committing" || batch.state === "searching";
    this.#batches.remove(batch);
    this.#proven.delete(call.destination.stream);
    const stored = committed ? rejection.stored : "no";
    if (committed) { for (let i = 0; i < call.count; i++) call.reject(i, stored); }
    const safe = stored === "no" || call.rows.allHaveIds;
    if (this.backlog.takeBack(call, 0, rejection.retry, safe, now())) return;
    this.host.fail({ ...rejection, call });
  }

  #afterAnswer(): void {
    this.proceed();
    this.host.noteChange();
  }

  /** While a batch is open, none is resent. */
  protected nextDue(): number {
    if (!this.stopped && this.#batches.size === 0) return this.backlog.due;
    return this.#batches.nextDue?.deadline ?? Infinity;
  }

  protected expire(time: number): void {
    for (
      let batch = this.#batches.nextDue;
      batch !== undefined && batch.deadline <= time;
      batch = this.#batches.nextDue
    ) {
      const what = batch.state === "committing" ? "its commit" : "its first row";
      this.#reject(batch, timeoutRejection(`answer to ${what}`, this.#settings.publishTimeout));
    }
  }

  protected submit(time: number): void {
    const { retry } = this.backlog;
    const begin = (call: Call): boolean => this.#begin(call, time);
    const { early } = this.#batches;
    if (early?.state === "staged" && !this.#sendRest(early, time)) return;
    // Batches that are resent are submitted before all others.
    const free = this.backlog.submitAgain(time, begin) && retry.size === 0;
    if (free && !retry.pausing(time)) this.backlog.submitCalls(begin);
    this.#wire.flush();
  }

  /**
   * Begins a call's batch. Returns false if it must wait: another batch is opening, or the window lacks room for it.
   */
  #begin(call: Call, time: number): boolean {
    const rows = call.rows;
    if (rows.count === 0) {
      call.finishSubmission();
      return true;
    }
    const bytes = rows.totalSize;
    const { maxInFlight, maxInFlightBytes, publishTimeout } = this.#settings;
    if (this.#batches.rows + rows.count > maxInFlight || this.#batches.bytes + bytes > maxInFlightBytes) return false;
    // With retry, one batch is open at a time: rows are stored in the order of calls even if a batch is resent.
    if (this.#batches.early !== undefined || (this.backlog.retry.enabled && this.#batches.size > 0)) return false;
    if (this.#failUnsafeResend(call)) return false;
    const batch = this.#batches.add(call, bytes, time + publishTimeout);
    this.#submitted += rows.count;
    call.stage(time);
    if (rows.count > 1) this.#send(batch, 0, batch.stageToken);
    // After a server has answered a batch as one, the stream requires servers that know batches (`_nats.req.level`), so
    // a later leader knows them too.
    if (rows.count === 1 || this.#proven.has(call.destination.stream)) return this.#sendRest(batch, time);
    return true;
  }

  /**
   * Fails the publisher if a row of a call may be stored, and the stream might store it twice. Returns whether it did.
   */
  #failUnsafeResend(call: Call): boolean {
    for (let i = 0; call.ledger.hasDoubts && i < call.count; i++) {
      const fault = call.ledger.resendFault(i, this.#settings.publishTimeout);
      if (fault === undefined) continue;
      this.host.fail(resendFailure(fault, call, i));
      return true;
    }
    return false;
  }

  /** Sends all rows but the first. Returns false, and fails the publisher, if they must not be sent. */
  #sendRest(batch: AtomicBatch, time: number): boolean {
    const { call } = batch;
    // The commit submits all rows: before it is sent, nothing of the batch can be stored.
    if (this.#failUnsafeResend(call)) return false;
    const last = call.count - 1;
    for (let i = 1; i < last; i++) this.#send(batch, i, undefined);
    this.#send(batch, last, batch.commitToken);
    this.#batches.commit(batch, time + this.#settings.publishTimeout);
    call.submit(0, call.count, time);
    // Only now: a connection that throws may have written the commit.
    this.#wire.flush();
    call.finishSubmission();
    return true;
  }

  #send(batch: AtomicBatch, index: number, token: number | undefined): void {
    const { rows } = batch.call;
    this.#wire.sendExtended(rows, index, token, batchHeaders(batch.id, index, index === rows.count - 1));
  }
}

/** Whether any row of a batch that was acknowledged as new may be stored twice. */
function mayBeStoredTwice({ ledger, count }: Call): boolean {
  for (let i = 0; ledger.hasDoubts && i < count; i++) if (ledger.mayBeStoredTwice(i)) return true;
  return false;
}
