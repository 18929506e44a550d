/**
 * The lane of publish mode `fast`: rows are sent in batches of fast ingest (ADR-50, part 2), in which one answer
 * acknowledges all rows so far.
 *
 * A batch begins with one row, whose answer tells how many may follow, and ends when there is no further row to send.
 * Calls share a batch. A call with at least as many rows as the window has its own batches, so that its last sequence
 * is known.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import { statusOf } from "../connection/client_internals.ts";
import type { Call } from "../call.ts";
import { now } from "./deadlines.ts";
import type { FastBatch } from "./fast_batch.ts";
import { APPEND, COMMIT, type FastAnswer, type FastReply, parseFast, parseReply, START } from "./fast_protocol.ts";
import { FastSender } from "./fast_sender.ts";
import { Feed } from "./fast_feed.ts";
import { Lane, type LaneHost } from "./lane.ts";
import { malformedAck, type Rejection, rejectionOf, STORED_LATE, timeoutRejection } from "../rejection.ts";
import type { Wire } from "../connection/wire.ts";

/** How long the last answer to a batch is waited for after the server no longer knows the batch, in milliseconds. */
const GRACE = 200;
/** The server's code: it does not know a batch with this id. */
const UNKNOWN_BATCH = 10208;
const LOST: Rejection = {
  code: "publish.rejected",
  stored: "unknown",
  retry: "later",
  reason: `the server no longer knows the batch, and its last acknowledgment is lost (${UNKNOWN_BATCH})`,
  serverCode: UNKNOWN_BATCH,
};

/** Settles rows by the answers to their batches; the sender submits them. */
export class FastLane extends Lane {
  readonly #settings: Settings;
  readonly #prefixLength: number;
  readonly #sender: FastSender;

  /** Creates a lane; reply subjects begin with `inbox`. */
  constructor(wire: Wire, settings: Settings, inbox: string, host: LaneHost) {
    super(settings, host);
    this.#settings = settings;
    this.#prefixLength = inbox.length;
    this.#sender = new FastSender(wire, settings, inbox, new Feed(this.backlog), (failure) => host.fail(failure));
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

  cancel(call: Call): void {
    const time = now();
    this.backlog.remove(call);
    for (const batch of this.#sender.batches.with(call)) {
      batch.drop(call, (_, from, to) => this.#sender.free(call, from, to));
      if (batch.live) continue;
      // No call waits for the batch any more, but the server waits for its end.
      this.#sender.markFailing(batch, time);
      this.#sender.abandonAt(batch, time + this.#settings.publishTimeout);
    }
    this.#afterAnswer();
  }

  protected override windUp(): void {
    // The end of a batch acknowledges rows that no other answer would.
    this.guarded(() => {
      for (const batch of this.#sender.batches.all) this.#sender.end(batch);
    });
  }

  protected forget(): void {
    this.#sender.clear();
  }

  reply(msg: Msg): void {
    this.noteAnswer();
    const at = parseReply(msg.subject, this.#prefixLength);
    const batch = at && this.#sender.batches.of(at.id);
    if (batch === undefined) return;
    const answer = parseFast(msg.data, statusOf(msg), batch.destination.source, batch.id);
    this.guarded(() => this.#handleAnswer(batch, at!, answer));
    this.#afterAnswer();
  }

  #handleAnswer(batch: FastBatch, at: FastReply, answer: FastAnswer): void {
    const { source } = batch.destination;
    switch (answer.kind) {
      case "flow":
        return this.#handleFlow(batch, answer.sequence, answer.perAck);
      case "gap":
        return this.#sender.markFailing(batch, now());
      case "row_refused":
        return this.#refuseRow(batch, answer.sequence, rejectionOf(answer.refusal, source));
      case "refused":
        return this.#handleRefusal(batch, at, rejectionOf(answer, source));
      case "ended":
        return this.#handleEnd(batch, answer.count, answer.lastSequence);
      default:
        return this.#finish(batch, rejectionOf(answer, source));
    }
  }

  #handleFlow(batch: FastBatch, sequence: number, perAck: number): void {
    if (sequence > batch.sent) return this.#finish(batch, malformedAck(`row ${sequence} was not sent`));
    batch.perAck = perAck;
    this.#sender.noteProgress(batch, now());
    // The last row is settled by the batch's end, which tells the last sequence.
    this.#settle(batch, Math.min(sequence, batch.ending ? batch.sent - 1 : batch.sent));
    if (this.stopped || batch.failing) this.#sender.end(batch);
  }

  #handleEnd(batch: FastBatch, count: number, lastSequence: number): void {
    if (count > batch.sent || count < batch.settled) {
      return this.#finish(
        batch,
        malformedAck(`${count} rows of a batch of ${batch.sent}, ${batch.settled} acknowledged`),
      );
    }
    if (lastSequence > 0 && batch.sole !== undefined) batch.sole.noteLastSequence(lastSequence);
    this.#settle(batch, count);
    const reason = `the server ended the batch before it, after ${count} rows`;
    this.#finish(batch, { code: "publish.rejected", stored: "no", retry: "pause", reason });
  }

  #settle(batch: FastBatch, upTo: number): void {
    if (upTo <= batch.settled) return;
    batch.settle(upTo, (call, from, to) => {
      const { offsets } = call.rows;
      this.#sender.free(call, from, to);
      call.acknowledgeRange(from, to);
      this.backlog.retry.noteSuccess();
      this.host.noteAcknowledged(to - from, 0, offsets[to]! - offsets[from]!);
      if (this.#failStoredLate(call, from, to)) return;
      if (call.ledger.allAcknowledged) call.settle();
    });
  }

  /** Rejects those of some acknowledged rows that may be stored twice. Fails the publisher, and returns true, for any. */
  #failStoredLate(call: Call, from: number, to: number): boolean {
    let first: number | undefined;
    for (let i = from; call.ledger.hasDoubts && i < to; i++) {
      if (!call.ledger.mayBeStoredTwice(i)) continue;
      call.reject(i, STORED_LATE.stored);
      first ??= i;
    }
    if (first === undefined) return false;
    this.host.fail({ ...STORED_LATE, call, index: first });
    return true;
  }

  /** Handles the refusal of a message of the batch, or that it had no responder. */
  #handleRefusal(batch: FastBatch, { sequence, operation }: FastReply, rejection: Rejection): void {
    if (operation === START || (sequence === 1 && operation === COMMIT)) {
      // The batch was never opened: nothing of it is stored.
      batch.refused.set(1, rejection);
      const reason = `the batch ended with its first row: ${rejection.reason}`;
      this.#finish(batch, { ...rejection, stored: "no", retry: "pause", reason });
    } else if (operation === APPEND || operation === COMMIT) {
      this.#refuseRow(batch, sequence, rejection);
    } else if (rejection.serverCode === UNKNOWN_BATCH) {
      this.#sender.abandonAt(batch, now() + GRACE);
    } else {
      this.#sender.markFailing(batch, now());
    }
  }

  #refuseRow(batch: FastBatch, sequence: number, rejection: Rejection): void {
    const row = batch.rowAt(sequence);
    this.#sender.markFailing(batch, now());
    if (row === undefined) return;
    batch.refused.set(sequence, rejection);
    row.call.reject(row.index, rejection.stored);
    if (batch.refused.size === batch.sent - batch.settled) this.#finish(batch, rejection);
    else if (!this.backlog.retry.enabled || rejection.retry === "never") this.host.fail({ ...rejection, ...row });
  }

  /** Ends a batch. Rows that are not settled are rejected: by their own refusal, otherwise by `rest`. */
  #finish(batch: FastBatch, rest: Rejection): void {
    this.#sender.remove(batch);
    this.#takeOut(batch, Infinity, rest);
  }

  #takeOut(batch: FastBatch, due: number, rest: Rejection): void {
    batch.takeOut(due, (call, index, sequence) => {
      this.#reject(call, index, batch.refused.get(sequence) ?? rest);
    });
  }

  #reject(call: Call, index: number, rejection: Rejection): void {
    this.#sender.free(call, index, index + 1);
    call.reject(index, rejection.stored);
    const safe = rejection.stored === "no" || call.rows.hasId(index);
    // All rows of a batch wait for the same time, so that they are resent in order.
    const retry = rejection.retry === "never" ? "never" : "pause";
    if (this.backlog.takeBack(call, index, retry, safe, now())) return;
    this.host.fail({ ...rejection, call, index });
  }

  #afterAnswer(): void {
    this.arm();
    this.proceed();
    this.host.noteChange();
  }

  protected nextDue(): number {
    const next = this.#sender.batches.nextDue;
    if (this.stopped) return next;
    return Math.min(next, this.#sender.lingersUntil, this.#sender.blocked ? Infinity : this.backlog.due);
  }

  protected submit(time: number): void {
    this.#sender.submit(time);
  }

  protected expire(time: number): void {
    this.#sender.batches.eachDue(time, (batch) => {
      if (batch.deadline <= time) this.#expire(batch, time);
      else if (batch.abandonedAt <= time) this.#finish(batch, LOST);
      else if (batch.requestAt <= time) this.#sender.requestProgress(batch, time);
    });
    this.#sender.endLingering(time);
  }

  #expire(batch: FastBatch, time: number): void {
    const rejection = timeoutRejection("acknowledgment", this.#settings.publishTimeout);
    if (this.backlog.retry.enabled) return this.#finish(batch, rejection);
    this.#sender.markFailing(batch, time);
    this.#takeOut(batch, time, rejection);
    if (!batch.live) this.#sender.remove(batch);
  }
}
