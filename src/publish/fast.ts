/**
 * Fast delivery: rows in batches of fast ingest (ADR-50, part 2), where one answer acknowledges all rows so far.
 *
 * A batch begins with one row, whose answer says how many may follow, and ends with the last row there is to send. Calls
 * share a batch; one with at least as many rows as the window has batches of its own, so that its last sequence is known.
 *
 * @module
 */

import { type Msg, nuid } from "@nats-io/nats-core";
import type { Settings } from "../options.ts";
import { statusOf } from "./client_internals.ts";
import type { Delivery } from "./delivery.ts";
import { ExpiryTimer } from "./expiry.ts";
import { FastBatch } from "./fast_batch.ts";
import {
  APPEND,
  COMMIT,
  END,
  type FastAnswer,
  type FastReply,
  parseFast,
  parseReply,
  PING,
  replyForms,
  START,
} from "./fast_protocol.ts";
import { Feed } from "./feed.ts";
import type { Lane, LaneHost } from "./lane.ts";
import { type Miss, missOf } from "./miss.ts";
import type { Wire } from "./wire.ts";

/** Rows for which a server sends one answer, at most. */
const MOST_FLOW = 500;
/** Answers outstanding: with fewer, the server waits for the client between two of them. */
const ANSWERS = 4;
/** The longest silence before a healthy batch is asked how far it is; after 10 s of it the server forgets a batch. */
const SILENCE = 3000;
/** How often the end of a batch is asked for when something went wrong: an election takes 4 to 9 s. */
const URGE = 250;
/** How long a batch's last answer may come after one that says that the server knows it no more. */
const GRACE = 200;
/** The server knows no batch of this id. */
const UNKNOWN_BATCH = 10208;

/** The lane of `publishMode: "fast"`. */
export class FastLane implements Lane {
  readonly #wire: Wire;
  readonly #host: LaneHost;
  readonly #settings: Settings;
  readonly #inbox: string;
  readonly #timer: ExpiryTimer;
  readonly #feed: Feed;
  readonly #batches = new Map<string, FastBatch>();
  /** The batch that takes rows. */
  #current: FastBatch | undefined;
  #rows = 0;
  #bytes = 0;
  #submitted = 0;
  #stopped = false;
  #pumping = false;
  /** Whether the next row waits for an answer, not for a time. */
  #blocked = false;
  /** When the batch at hand ends, because the next call's rows are not loaded. */
  #lingersUntil = Infinity;

  /** A lane over a wire; reply subjects begin with `inbox`. */
  constructor(wire: Wire, settings: Settings, inbox: string, host: LaneHost) {
    this.#wire = wire;
    this.#host = host;
    this.#settings = settings;
    this.#inbox = inbox;
    this.#feed = new Feed(settings.retry?.budget);
    this.#timer = new ExpiryTimer(() => this.#nextTurn(), (now) => this.#due(now));
  }

  get inFlight(): number {
    return this.#rows;
  }

  get inFlightBytes(): number {
    return this.#bytes;
  }

  get submitted(): number {
    return this.#submitted;
  }

  push(delivery: Delivery): void {
    delivery.cumulative = true;
    this.#feed.push(delivery);
  }

  wake(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  cancel(delivery: Delivery): void {
    this.#feed.remove(delivery);
    for (const batch of this.#batches.values()) {
      batch.drop(delivery, (_, from, to) => this.#free(delivery, from, to));
      if (batch.live) continue;
      this.#trouble(batch);
      batch.lostAt = Math.min(batch.lostAt, now() + this.#settings.publishTimeout);
    }
    this.#afterAnswer();
  }

  stop(): void {
    this.#stopped = true;
    this.#feed.retry.clear();
    this.#guarded(() => {
      for (const batch of this.#batches.values()) this.#end(batch);
    });
    this.#timer.arm();
    this.#reportDrained();
  }

  cut(): void {
    this.#stopped = true;
    this.#feed.retry.clear();
    this.#batches.clear();
    this.#current = undefined;
    this.#rows = 0;
    this.#bytes = 0;
    this.#timer.stop();
  }

  reply(msg: Msg): void {
    this.#timer.noteProgress();
    const at = parseReply(msg.subject, this.#inbox.length);
    const batch = at && this.#batches.get(at.id);
    if (batch === undefined) return;
    const answer = parseFast(msg.data, statusOf(msg), batch.destination.source, batch.id);
    this.#guarded(() => this.#heard(batch, at!, answer));
    this.#afterAnswer();
  }

  #heard(batch: FastBatch, at: FastReply, answer: FastAnswer): void {
    switch (answer.kind) {
      case "flow":
        if (answer.sequence > batch.sent) return this.#finish(batch, malformed(`row ${answer.sequence} was not sent`));
        return this.#flow(batch, answer.sequence, answer.perAck);
      case "gap":
        return this.#trouble(batch);
      case "row_refused":
        return this.#refuse(batch, answer.sequence, missOf(answer.refusal, batch.destination.source));
      case "refused":
        return this.#refused(batch, at, missOf(answer, batch.destination.source));
      case "ended":
        return this.#ended(batch, answer.count, answer.lastSequence);
      default:
        return this.#finish(batch, missOf(answer, batch.destination.source));
    }
  }

  #flow(batch: FastBatch, sequence: number, perAck: number): void {
    batch.perAck = perAck;
    batch.nudgeAt = Math.max(batch.troubled ? 0 : now() + this.#silence, batch.troubled ? batch.nudgeAt : 0);
    // The last row waits for the batch's end, which tells the last sequence.
    this.#settle(batch, Math.min(sequence, batch.ending ? batch.sent - 1 : batch.sent));
    if (this.#stopped || batch.troubled) this.#end(batch);
  }

  #ended(batch: FastBatch, count: number, lastSequence: number): void {
    if (count > batch.sent || count < batch.settled) {
      return this.#finish(batch, malformed(`${count} rows of a batch of ${batch.sent}, ${batch.settled} acknowledged`));
    }
    if (lastSequence > 0 && batch.sole !== undefined) batch.sole.lastSequence = lastSequence;
    this.#settle(batch, count);
    const reason = `the server ended the batch before it, after ${count} rows`;
    this.#finish(batch, { code: "publish.rejected", stored: "no", again: "pause", reason });
  }

  #settle(batch: FastBatch, upTo: number): void {
    if (upTo <= batch.settled) return;
    batch.settle(upTo, (delivery, from, to) => {
      this.#free(delivery, from, to);
      const { offsets } = delivery.rows!;
      delivery.acknowledgeRange(from, to);
      this.#feed.retry.succeeded();
      this.#host.acknowledged(to - from, 0, offsets[to]! - offsets[from]!);
      if (delivery.complete) delivery.done.resolve();
    });
  }

  /** A message of the batch was refused, or found nobody. */
  #refused(batch: FastBatch, { sequence, operation }: FastReply, miss: Miss): void {
    if (operation === START || sequence === 1 && operation === COMMIT) {
      // No batch, or none any more: nothing of it is stored.
      batch.refused.set(1, miss);
      const reason = `the batch ended with its first row: ${miss.reason}`;
      return this.#finish(batch, { ...miss, stored: "no", again: "pause", reason });
    }
    if (operation === APPEND || operation === COMMIT) return this.#refuse(batch, sequence, miss);
    if (miss.serverCode === UNKNOWN_BATCH) batch.lostAt = Math.min(batch.lostAt, now() + GRACE);
    else batch.nudgeAt = now() + URGE;
  }

  #refuse(batch: FastBatch, sequence: number, miss: Miss): void {
    const row = batch.rowAt(sequence);
    this.#trouble(batch);
    if (row === undefined) return;
    batch.refused.set(sequence, miss);
    row.delivery.refuse(row.index, miss.stored);
    if (batch.refused.size === batch.sent - batch.settled) this.#finish(batch, miss);
    else if (!this.#feed.retry.enabled || miss.again === "never") this.#host.failed({ ...miss, ...row });
  }

  /** Something is wrong: the batch takes no more rows, and its end is asked for. */
  #trouble(batch: FastBatch): void {
    if (this.#current === batch) this.#current = undefined;
    if (batch.troubled) return;
    batch.troubled = true;
    batch.nudgeAt = now() + URGE;
  }

  /** The batch is over; rows that are not settled are as they were refused, else as `rest` says. */
  #finish(batch: FastBatch, rest: Miss): void {
    this.#batches.delete(batch.id);
    if (this.#current === batch) this.#current = undefined;
    batch.takeOut(Infinity, (delivery, index, sequence) => {
      this.#missed(delivery, index, batch.refused.get(sequence) ?? rest);
    });
  }

  #missed(delivery: Delivery, index: number, miss: Miss): void {
    this.#free(delivery, index, index + 1);
    delivery.refuse(index, miss.stored);
    const safe = miss.stored === "no" || delivery.rows!.hasId(index);
    const { retry } = this.#feed;
    // All rows of a batch wait for the same time, so that they go again in order.
    if (!this.#stopped && safe && miss.again !== "never" && retry.add(delivery, index, "pause", now())) return;
    delivery.open--;
    this.#host.failed({ ...miss, delivery, index });
  }

  #free(delivery: Delivery, from: number, to: number): void {
    this.#rows -= to - from;
    this.#bytes -= delivery.rows!.sizeOfRange(from, to);
  }

  #afterAnswer(): void {
    if (this.#stopped) this.#reportDrained();
    else this.wake();
    this.#timer.arm();
    this.#host.moved();
  }

  #reportDrained(): void {
    if (this.#rows === 0) queueMicrotask(() => this.#host.drained());
  }

  get #silence(): number {
    return Math.min(SILENCE, this.#settings.publishTimeout / 3);
  }

  #nextTurn(): number {
    let next = Infinity;
    for (const { deadline, nudgeAt, lostAt } of this.#batches.values()) {
      next = Math.min(next, deadline, nudgeAt, lostAt);
    }
    if (this.#stopped) return next;
    return Math.min(next, this.#lingersUntil, this.#blocked ? Infinity : this.#feed.due);
  }

  #due(time: number): void {
    this.#guarded(() => {
      for (const batch of this.#batches.values()) {
        if (batch.deadline <= time) this.#expire(batch, time);
        else if (batch.lostAt <= time) this.#finish(batch, LOST);
        else if (batch.nudgeAt <= time) this.#nudge(batch, time);
      }
      if (this.#lingersUntil <= time && this.#current !== undefined && this.#feed.loading) this.#end(this.#current);
    });
    this.#lingersUntil = Infinity;
    if (this.#stopped) this.#reportDrained();
    else this.#pump();
  }

  #expire(batch: FastBatch, time: number): void {
    const reason = `no acknowledgment within ${this.#settings.publishTimeout} ms`;
    const miss: Miss = { code: "publish.timeout", stored: "unknown", again: "later", reason };
    if (this.#feed.retry.enabled) return this.#finish(batch, miss);
    this.#trouble(batch);
    batch.takeOut(time, (delivery, index, sequence) => {
      this.#missed(delivery, index, batch.refused.get(sequence) ?? miss);
    });
    if (!batch.live) this.#batches.delete(batch.id);
  }

  /** Asks a batch how far it is, or to end. Before its first answer it may not be asked: without the feature it would be stored. */
  #nudge(batch: FastBatch, time: number): void {
    batch.nudgeAt = time + (batch.troubled ? URGE : this.#silence);
    if (batch.opening) batch.nudgeAt = Infinity;
    else if (batch.troubled || batch.ending || this.#stopped) this.#sendEnd(batch);
    else this.#wire.sendEmpty(batch.destination.subject, batch.forms[PING]!, batch.sent);
  }

  #end(batch: FastBatch): void {
    if (!batch.opening && !batch.ending) this.#sendEnd(batch);
  }

  #sendEnd(batch: FastBatch): void {
    batch.ending = true;
    if (this.#current === batch) this.#current = undefined;
    this.#wire.sendEmpty(batch.destination.subject, batch.forms[END]!, batch.sent + 1);
  }

  /** Runs what may send: the connection may be gone. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#host.failed({ code: "publish.disconnected", reason: "the connection is lost", cause });
    }
  }

  #pump(): void {
    if (this.#stopped) return;
    this.#guarded(() => {
      this.#submit(now());
      this.#wire.flush();
    });
    this.#timer.arm();
    this.#host.moved();
  }

  #submit(time: number): void {
    const feed = this.#feed;
    let delivery = feed.peek(time);
    for (; delivery !== undefined; delivery = feed.peek(time)) {
      const batch = this.#batchFor(delivery);
      if (batch === undefined || !this.#fits(batch, delivery, feed.index)) break;
      this.#send(batch, delivery, time);
    }
    this.#blocked = delivery !== undefined;
    this.#lingersUntil = delivery === undefined && feed.loading ? time : Infinity;
    const batch = this.#current;
    if (batch === undefined || batch.opening) return;
    // Without another row it ends now; and when there is no room for one, though too few are out for an answer to come.
    const stuck = delivery !== undefined && batch.sent - batch.settled < batch.perAck && this.#batches.size === 1;
    if (stuck || (delivery === undefined && !feed.loading)) this.#sendEnd(batch);
  }

  /** The batch for a call's next row; undefined while an answer is waited for. */
  #batchFor(delivery: Delivery): FastBatch | undefined {
    for (const batch of this.#batches.values()) if (batch.troubled && batch.live) return undefined;
    const current = this.#current;
    if (current === undefined) return this.#current = this.#begin(delivery);
    if (current.opening) return undefined;
    if (joins(current, delivery, this.#settings.maxInFlight)) return current;
    this.#sendEnd(current);
    return this.#current = this.#begin(delivery);
  }

  #begin(delivery: Delivery): FastBatch {
    const { maxInFlight, maxInFlightBytes } = this.#settings;
    const rows = delivery.rows!;
    const rowsOfWindow = Math.min(maxInFlight, maxInFlightBytes * rows.count / rows.sizeOfRange(0, rows.count));
    const flow = Math.min(MOST_FLOW, Math.max(1, Math.floor(rowsOfWindow / ANSWERS)));
    const id = nuid.next();
    const own = delivery.count >= maxInFlight ? delivery : undefined;
    return new FastBatch(id, delivery.destination!, replyForms(this.#inbox, id, flow), flow, own);
  }

  #fits(batch: FastBatch, delivery: Delivery, index: number): boolean {
    const { maxInFlight, maxInFlightBytes } = this.#settings;
    const out = batch.sent - batch.settled;
    if (this.#rows >= maxInFlight || (out > 0 && out >= batch.perAck * Math.floor(maxInFlight / batch.flow))) {
      return false;
    }
    return this.#bytes + delivery.rows!.sizeOf(index) <= maxInFlightBytes;
  }

  #send(batch: FastBatch, delivery: Delivery, time: number): void {
    const { index } = this.#feed;
    const undo = this.#feed.take(delivery);
    const sequence = batch.add(delivery, index, time + this.#settings.publishTimeout);
    delivery.submit(index);
    const next = this.#feed.peek(time);
    const last = next === undefined ? !this.#feed.loading : !joins(batch, next, this.#settings.maxInFlight);
    const operation = last ? COMMIT : sequence === 1 ? START : APPEND;
    try {
      this.#wire.sendOn(delivery.rows!, index, batch.forms[operation]!, sequence);
    } catch (error) {
      batch.removeLast();
      delivery.withdraw(index);
      undo();
      throw error;
    }
    if (sequence === 1) this.#batches.set(batch.id, batch);
    this.#rows++;
    this.#bytes += delivery.rows!.sizeOf(index);
    this.#submitted++;
    if (last) {
      batch.ending = true;
      this.#current = undefined;
      batch.nudgeAt = sequence === 1 ? Infinity : time + this.#silence;
    }
    if (delivery.next === delivery.count && !this.#wire.holdsRows && !this.#feed.retry.enabled) delivery.release();
  }
}

/** Whether a call's rows go into a batch that has begun. */
function joins(batch: FastBatch, delivery: Delivery, maxInFlight: number): boolean {
  if (batch.destination.stream !== delivery.destination!.stream) return false;
  return batch.own === undefined ? delivery.count < maxInFlight : batch.own === delivery;
}

const LOST: Miss = {
  code: "publish.rejected",
  stored: "unknown",
  again: "later",
  reason: `the server knows the batch no more, and its last acknowledgment is lost (${UNKNOWN_BATCH})`,
  serverCode: UNKNOWN_BATCH,
};

function malformed(what: string): Miss {
  const reason = `its acknowledgment is malformed: ${what}`;
  return { code: "publish.bad_ack", stored: "unknown", again: "later", reason };
}

/** Milliseconds that never go back: deadlines must not move with the wall clock. */
function now(): number {
  return performance.now();
}
