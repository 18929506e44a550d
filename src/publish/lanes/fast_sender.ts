/**
 * Sends rows in fast batches: it decides which batch a row joins and when a batch begins and ends, and counts what is
 * outstanding.
 *
 * @module
 */

import { resendFailure } from "../rejection.ts";
import { nuid } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import type { Call, Failure } from "../call.ts";
import { FastBatch } from "./fast_batch.ts";
import { FastBatches } from "./fast_batches.ts";
import { APPEND, COMMIT, END, PING, replyForms, START } from "./fast_protocol.ts";
import type { Feed } from "./fast_feed.ts";
import type { Wire } from "../connection/wire.ts";

/** The most rows that one answer acknowledges. */
const MOST_FLOW = 500;
/**
 * How many answers are outstanding at least: while one is on its way and its rows are replaced, the server works on the
 * rows of the others. With 2, 3, 4 or 8 answers at a window of 1024, rate and CPU differ by less than between runs.
 */
const ANSWERS = 3;
/**
 * How long a batch may have no answer before its progress is requested, in milliseconds. After 10 s the server forgets
 * it.
 */
const LONGEST_SILENCE = 3000;
/** How often the end of a failing batch is requested, in milliseconds: an election takes 4 to 9 s. */
const END_INTERVAL = 250;

/** Sends the rows of a lane. */
export class FastSender {
  readonly #wire: Wire;
  readonly #settings: Settings;
  readonly #inbox: string;
  readonly #feed: Feed;
  readonly #onRefused: (failure: Failure) => void;
  /** The open batches. */
  readonly batches = new FastBatches();
  /** The batch that the next row may join. */
  #current: FastBatch | undefined;
  /** Rows outstanding. */
  rows = 0;
  /** Their bytes. */
  bytes = 0;
  /** Rows sent since opening. */
  submitted = 0;
  /** Whether the next row waits for an answer, not for a time. */
  blocked = false;
  /** When the current batch ends because the next call's rows are not loaded; Infinity if it does not. */
  lingersUntil = Infinity;

  /** Creates a sender; reply subjects begin with `inbox`. Calls `onRefused` for a row that must not be sent. */
  constructor(wire: Wire, settings: Settings, inbox: string, feed: Feed, onRefused: (failure: Failure) => void) {
    this.#onRefused = onRefused;
    this.#wire = wire;
    this.#settings = settings;
    this.#inbox = inbox;
    this.#feed = feed;
  }

  /** Removes a batch. Later answers to it have no effect. */
  remove(batch: FastBatch): void {
    this.batches.remove(batch);
    this.#close(batch);
  }

  /** Removes all batches and what is outstanding. */
  clear(): void {
    this.batches.clear();
    this.#current = undefined;
    this.rows = 0;
    this.bytes = 0;
  }

  /** Notes that rows are no longer outstanding. */
  free(call: Call, from: number, to: number): void {
    this.rows -= to - from;
    this.bytes -= call.rows.sizeOfRange(from, to);
  }

  /** Notes that a batch is failing: no more rows join it, and its end is requested. */
  markFailing(batch: FastBatch, time: number): void {
    this.#close(batch);
    if (batch.failing) return;
    batch.failing = true;
    batch.requestAt = time + END_INTERVAL;
    this.batches.noteFailing(batch);
  }

  /** Abandons a batch at a time, whatever its rows' deadlines are. */
  abandonAt(batch: FastBatch, time: number): void {
    batch.abandonedAt = Math.min(batch.abandonedAt, time);
    this.batches.schedule(batch);
  }

  /** Notes an answer: the progress of a batch that is not failing need not be requested for a while. */
  noteProgress(batch: FastBatch, time: number): void {
    if (batch.failing) return;
    batch.requestAt = time + this.#silence;
    this.batches.schedule(batch);
  }

  /**
   * Requests the progress of a batch, or its end. Not before its first answer: a server that does not know batches
   * would store the request.
   */
  requestProgress(batch: FastBatch, time: number): void {
    batch.requestAt = batch.opening ? Infinity : time + (batch.failing ? END_INTERVAL : this.#silence);
    if (batch.opening) return;
    if (batch.failing || batch.ending) this.#sendEnd(batch);
    else this.#wire.sendEmpty(batch.subject, batch.forms[PING]!, batch.sent);
  }

  /** Ends a batch, unless its first answer is outstanding. */
  end(batch: FastBatch): void {
    if (!batch.opening && !batch.ending) this.#sendEnd(batch);
  }

  /** Ends the current batch if the next rows were not loaded in time. */
  endLingering(time: number): void {
    if (this.lingersUntil <= time && this.#current !== undefined && this.#feed.loading) this.end(this.#current);
    this.lingersUntil = Infinity;
  }

  /** Sends the feed's rows, as far as the window and the server allow. */
  submit(time: number): void {
    const feed = this.#feed;
    let call = feed.peek(time);
    for (; call !== undefined; call = feed.peek(time)) {
      const batch = this.#batchFor(call);
      if (batch === undefined || !this.#send(batch, call, time)) break;
    }
    this.blocked = call !== undefined;
    this.#endIdle(call, time);
    this.#wire.flush();
  }

  /** Ends the current batch if no row follows; or if the next one has no room, and too few were sent to be answered. */
  #endIdle(next: Call | undefined, time: number): void {
    this.lingersUntil = Infinity;
    const batch = this.#current;
    if (batch === undefined || batch.opening) return;
    const stuck = batch.sent - batch.settled < batch.perAck && this.batches.size === 1;
    if (next === undefined ? !this.#feed.loading : stuck) this.end(batch);
    else if (next === undefined) this.lingersUntil = time;
  }

  /** Returns the batch for a call's next row; undefined if an answer must come first. */
  #batchFor(call: Call): FastBatch | undefined {
    if (this.batches.anyFailing) return undefined;
    const current = this.#current;
    // A batch without rows is one for which the window had no room: it is replaced.
    if (current === undefined || current.sent === 0) return this.#current = this.#begin(call);
    if (current.opening) return undefined;
    if (joins(current, call, this.#settings.maxInFlight)) return current;
    this.#sendEnd(current);
    return this.#current = this.#begin(call);
  }

  #begin(call: Call): FastBatch {
    const { maxInFlight, maxInFlightBytes } = this.#settings;
    const rows = call.rows;
    const rowsOfWindow = Math.min(maxInFlight, maxInFlightBytes * rows.count / rows.totalSize);
    const flow = Math.min(MOST_FLOW, Math.max(1, Math.floor(rowsOfWindow / ANSWERS)));
    // The protocol requires an id that is unique among the open batches of a stream. It is in every message, so it is
    // short.
    const id = nuid.next().slice(-12);
    const own = call.count >= maxInFlight ? call : undefined;
    const subject = rows.subjectOf(this.#feed.index);
    return new FastBatch(id, call.destination, subject, replyForms(this.#inbox, id, flow), flow, own);
  }

  /** Returns how many of the feed's next rows have room, by count. */
  #room(batch: FastBatch): number {
    const { maxInFlight } = this.#settings;
    if (batch.sent === 0) return Math.min(1, maxInFlight - this.rows);
    // The server lowers `perAck` if several clients share the stream.
    const flow = batch.perAck * Math.floor(maxInFlight / batch.flow) - (batch.sent - batch.settled);
    return Math.min(maxInFlight - this.rows, flow, this.#feed.run);
  }

  /** Sends rows of one call, as many as have room. Returns false if none has. */
  #send(batch: FastBatch, call: Call, time: number): boolean {
    const { index, run } = this.#feed;
    const room = this.#room(batch);
    const bulk = this.#sendMany(batch, call, Math.min(room, run - 1), time);
    if (bulk < run - 1) return bulk > 0;
    const size = call.rows.sizeOf(index + bulk);
    if (bulk >= room || this.bytes + size > this.#settings.maxInFlightBytes) return bulk > 0;
    return this.#sendLast(batch, call, index + bulk, time);
  }

  /** Returns why a row must not be sent: it may be stored, and the stream might store it twice. */
  #faultOf(call: Call, index: number): Failure | undefined {
    const fault = call.ledger.resendFault(index, this.#settings.publishTimeout);
    return fault === undefined ? undefined : resendFailure(fault, call, index);
  }

  /** Sends rows that other rows of the call follow, in one loop: nearly all rows are sent here. Returns how many. */
  #sendMany(batch: FastBatch, call: Call, most: number, time: number): number {
    const { index } = this.#feed;
    const { maxInFlightBytes } = this.#settings;
    const rows = call.rows;
    const first = batch.sent + 1;
    let count = 0;
    let fault: Failure | undefined;
    try {
      for (; count < most; count++) {
        const size = rows.sizeOf(index + count);
        if (this.bytes + size > maxInFlightBytes) break;
        fault = this.#faultOf(call, index + count);
        if (fault !== undefined) break;
        const sequence = first + count;
        this.#wire.sendOn(rows, index + count, batch.forms[sequence === 1 ? START : APPEND]!, sequence);
        this.bytes += size;
      }
    } finally {
      if (count > 0) {
        call.submit(index, index + count, time);
        this.#note(batch, call, index, count, time);
      }
    }
    // Only now: the failure ends the batch, after the rows that were sent.
    if (fault !== undefined) this.#onRefused(fault);
    return count;
  }

  /**
   * Sends the last row of a call, or a row that is resent. It ends the batch if the row after it does not join the
   * batch. Returns false if the row must not be sent.
   */
  #sendLast(batch: FastBatch, call: Call, index: number, time: number): boolean {
    const fault = this.#faultOf(call, index);
    if (fault !== undefined) {
      this.#onRefused(fault);
      return false;
    }
    this.#feed.take();
    call.submit(index, index + 1, time);
    const next = this.#feed.peek(time);
    const last = next === undefined ? !this.#feed.loading : !joins(batch, next, this.#settings.maxInFlight);
    const sequence = batch.sent + 1;
    try {
      const operation = last ? COMMIT : sequence === 1 ? START : APPEND;
      this.#wire.sendOn(call.rows, index, batch.forms[operation]!, sequence);
    } catch (error) {
      call.withdraw(index);
      throw error;
    }
    this.bytes += call.rows.sizeOf(index);
    this.#note(batch, call, index, 1, time);
    if (last) {
      batch.ending = true;
      this.#close(batch);
      this.noteProgress(batch, time);
    }
    if (call.next === call.count) call.finishSubmission();
    return true;
  }

  /** Adds rows that were sent to their batch and to what is outstanding. */
  #note(batch: FastBatch, call: Call, index: number, count: number, time: number): void {
    batch.add(call, index, count, time + this.#settings.publishTimeout);
    this.batches.add(batch, call);
    this.rows += count;
    this.submitted += count;
  }

  #sendEnd(batch: FastBatch): void {
    batch.ending = true;
    this.#close(batch);
    this.#wire.sendEmpty(batch.subject, batch.forms[END]!, batch.sent + 1);
  }

  #close(batch: FastBatch): void {
    if (this.#current === batch) this.#current = undefined;
  }

  get #silence(): number {
    return Math.min(LONGEST_SILENCE, this.#settings.publishTimeout / 3);
  }
}

/** Whether a call's rows join a batch that has begun. */
function joins(batch: FastBatch, call: Call, maxInFlight: number): boolean {
  if (batch.destination.stream !== call.destination.stream) return false;
  return batch.own === undefined ? call.count < maxInFlight : batch.own === call;
}
