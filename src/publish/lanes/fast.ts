/**
 * Fast delivery: rows in batches of fast ingest (ADR-50, part 2), where one answer acknowledges all rows so far.
 *
 * A batch begins with one row, whose answer says how many may follow, and ends with the last row there is to send.
 * Calls share a batch; one with at least as many rows as the window has batches of its own, so that its last sequence
 * is known.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import { statusOf } from "../connection/client_internals.ts";
import type { Delivery } from "../call.ts";
import { now } from "./deadlines.ts";
import type { FastBatch } from "./fast_batch.ts";
import { APPEND, COMMIT, type FastAnswer, type FastReply, parseFast, parseReply, START } from "./fast_protocol.ts";
import { FastSender } from "./fast_sender.ts";
import { Feed } from "./fast_feed.ts";
import { Lane } from "./lane.ts";
import { malformed, type Miss, missOf, STORED_LATE, timedOut } from "../rejection.ts";
import type { LaneHost } from "./pump.ts";
import type { Wire } from "../connection/wire.ts";

/** How long a batch's last answer may come after one that says that the server knows it no more, in milliseconds. */
const GRACE = 200;
/** The server knows no batch of this id. */
const UNKNOWN_BATCH = 10208;
const LOST: Miss = {
  code: "publish.rejected",
  stored: "unknown",
  again: "later",
  reason: `the server knows the batch no more, and its last acknowledgment is lost (${UNKNOWN_BATCH})`,
  serverCode: UNKNOWN_BATCH,
};

/** The lane of `publishMode: "fast"`. */
export class FastLane extends Lane {
  readonly #settings: Settings;
  readonly #prefixLength: number;
  readonly #sender: FastSender;

  /** A lane over a wire; reply subjects begin with `inbox`. */
  constructor(wire: Wire, settings: Settings, inbox: string, host: LaneHost) {
    super(settings, host);
    this.#settings = settings;
    this.#prefixLength = inbox.length;
    this.#sender = new FastSender(wire, settings, inbox, new Feed(this.backlog), (failure) => host.failed(failure));
  }

  get inFlight(): number {
    return this.#sender.rows;
  }

  get inFlightBytes(): number {
    return this.#sender.bytes;
  }

  get submitted(): number {
    return this.#sender.submitted;
  }

  override push(delivery: Delivery): void {
    delivery.cumulative = true;
    super.push(delivery);
  }

  cancel(delivery: Delivery): void {
    const time = now();
    this.backlog.remove(delivery);
    for (const batch of this.#sender.batches.with(delivery)) {
      batch.drop(delivery, (_, from, to) => this.#sender.free(delivery, from, to));
      if (batch.live) continue;
      // No call waits for its end, but the server does.
      this.#sender.trouble(batch, time);
      this.#sender.giveUpAt(batch, time + this.#settings.publishTimeout);
    }
    this.#afterAnswer();
  }

  protected override windUp(): void {
    // The end of a batch acknowledges what no other answer would.
    this.pump.guarded(() => {
      for (const batch of this.#sender.batches.all) this.#sender.end(batch);
    });
  }

  protected forget(): void {
    this.#sender.clear();
  }

  reply(msg: Msg): void {
    this.pump.noteAnswer();
    const at = parseReply(msg.subject, this.#prefixLength);
    const batch = at && this.#sender.batches.of(at.id);
    if (batch === undefined) return;
    const answer = parseFast(msg.data, statusOf(msg), batch.destination.source, batch.id);
    this.pump.guarded(() => this.#heard(batch, at!, answer));
    this.#afterAnswer();
  }

  #heard(batch: FastBatch, at: FastReply, answer: FastAnswer): void {
    const { source } = batch.destination;
    switch (answer.kind) {
      case "flow":
        return this.#flow(batch, answer.sequence, answer.perAck);
      case "gap":
        return this.#sender.trouble(batch, now());
      case "row_refused":
        return this.#refuse(batch, answer.sequence, missOf(answer.refusal, source));
      case "refused":
        return this.#refused(batch, at, missOf(answer, source));
      case "ended":
        return this.#ended(batch, answer.count, answer.lastSequence);
      default:
        return this.#finish(batch, missOf(answer, source));
    }
  }

  #flow(batch: FastBatch, sequence: number, perAck: number): void {
    if (sequence > batch.sent) return this.#finish(batch, malformed(`row ${sequence} was not sent`));
    batch.perAck = perAck;
    this.#sender.heard(batch, now());
    // The last row waits for the batch's end, which tells the last sequence.
    this.#settle(batch, Math.min(sequence, batch.ending ? batch.sent - 1 : batch.sent));
    if (this.pump.stopped || batch.troubled) this.#sender.end(batch);
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
      const { offsets } = delivery.rows!;
      this.#sender.free(delivery, from, to);
      delivery.acknowledgeRange(from, to);
      this.backlog.retry.succeeded();
      this.host.acknowledged(to - from, 0, offsets[to]! - offsets[from]!);
      if (this.#storedLate(delivery, from, to)) return;
      if (delivery.complete) delivery.done.resolve();
    });
  }

  /** Fails the publisher if some of these rows may be stored twice. */
  #storedLate(delivery: Delivery, from: number, to: number): boolean {
    for (let i = from; delivery.hasDoubts && i < to; i++) {
      if (!delivery.mayBeStoredTwice(i)) continue;
      delivery.refuse(i, STORED_LATE.stored);
      this.host.failed({ ...STORED_LATE, delivery, index: i });
      return true;
    }
    return false;
  }

  /** A message of the batch was refused, or had no responder. */
  #refused(batch: FastBatch, { sequence, operation }: FastReply, miss: Miss): void {
    if (operation === START || (sequence === 1 && operation === COMMIT)) {
      // No batch, or none any more: nothing of it is stored.
      batch.refused.set(1, miss);
      const reason = `the batch ended with its first row: ${miss.reason}`;
      this.#finish(batch, { ...miss, stored: "no", again: "pause", reason });
    } else if (operation === APPEND || operation === COMMIT) {
      this.#refuse(batch, sequence, miss);
    } else if (miss.serverCode === UNKNOWN_BATCH) {
      this.#sender.giveUpAt(batch, now() + GRACE);
    } else {
      this.#sender.trouble(batch, now());
    }
  }

  #refuse(batch: FastBatch, sequence: number, miss: Miss): void {
    const row = batch.rowAt(sequence);
    this.#sender.trouble(batch, now());
    if (row === undefined) return;
    batch.refused.set(sequence, miss);
    row.delivery.refuse(row.index, miss.stored);
    if (batch.refused.size === batch.sent - batch.settled) this.#finish(batch, miss);
    else if (!this.backlog.retry.enabled || miss.again === "never") this.host.failed({ ...miss, ...row });
  }

  /** The batch is over; rows that are not settled are as they were refused, else as `rest` says. */
  #finish(batch: FastBatch, rest: Miss): void {
    this.#sender.remove(batch);
    this.#takeOut(batch, Infinity, rest);
  }

  #takeOut(batch: FastBatch, due: number, rest: Miss): void {
    batch.takeOut(due, (delivery, index, sequence) => {
      this.#missed(delivery, index, batch.refused.get(sequence) ?? rest);
    });
  }

  #missed(delivery: Delivery, index: number, miss: Miss): void {
    this.#sender.free(delivery, index, index + 1);
    delivery.refuse(index, miss.stored);
    const safe = miss.stored === "no" || delivery.rows!.hasId(index);
    // All rows of a batch wait for the same time, so that they are sent again in order.
    const again = miss.again === "never" ? "never" : "pause";
    if (this.backlog.takeBack(delivery, index, again, safe, now())) return;
    this.host.failed({ ...miss, delivery, index });
  }

  #afterAnswer(): void {
    this.pump.arm();
    this.pump.proceed();
    this.host.moved();
  }

  protected nextDue(): number {
    const next = this.#sender.batches.nextDue;
    if (this.pump.stopped) return next;
    return Math.min(next, this.#sender.lingersUntil, this.#sender.blocked ? Infinity : this.backlog.due);
  }

  protected submit(time: number): void {
    this.#sender.submit(time);
  }

  protected expire(time: number): void {
    this.#sender.batches.eachDue(time, (batch) => {
      if (batch.deadline <= time) this.#expire(batch, time);
      else if (batch.lostAt <= time) this.#finish(batch, LOST);
      else if (batch.nudgeAt <= time) this.#sender.nudge(batch, time);
    });
    this.#sender.endLingering(time);
  }

  #expire(batch: FastBatch, time: number): void {
    const miss = timedOut("acknowledgment", this.#settings.publishTimeout);
    if (this.backlog.retry.enabled) return this.#finish(batch, miss);
    this.#sender.trouble(batch, time);
    this.#takeOut(batch, time, miss);
    if (!batch.live) this.#sender.remove(batch);
  }
}
