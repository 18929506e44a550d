/**
 * The lane of publish mode `individual`: the server acknowledges each row, and many rows are outstanding at a time.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import { parseAck } from "../ack.ts";
import { statusOf, tokenOf } from "../connection/client_internals.ts";
import type { Call, KnownRows } from "../call.ts";
import { ACKED } from "../outcomes.ts";
import { now } from "./deadlines.ts";
import { Lane, type LaneHost } from "./lane.ts";
import { type Rejection, rejectionOf, resendFailure, STORED_LATE, timeoutRejection } from "../rejection.ts";
import { Window } from "./window.ts";
import type { Wire } from "../connection/wire.ts";

/** Submits rows one by one, and settles each by its own answer. */
export class IndividualLane extends Lane {
  readonly #wire: Wire;
  readonly #window: Window<Call>;
  readonly #timeout: number;
  readonly #prefixLength: number;
  readonly #inOrder: boolean;
  /** Whether a row that may be resent has no room in the window: it waits for an answer, not for a time. */
  #full = false;
  #submitted = 0;

  /** Creates a lane; the token is in an answer's subject after `prefixLength` characters. */
  constructor(wire: Wire, settings: Settings, prefixLength: number, host: LaneHost) {
    super(settings, host);
    this.#wire = wire;
    this.#window = new Window(settings.maxInFlight, settings.maxInFlightBytes);
    this.#timeout = settings.publishTimeout;
    this.#inOrder = settings.maxInFlight === 1;
    this.#prefixLength = prefixLength;
  }

  get inFlight(): number {
    return this.#window.count;
  }

  get inFlightBytes(): number {
    return this.#window.bytes;
  }

  get submitted(): number {
    return this.#submitted;
  }

  cancel(call: Call): void {
    this.backlog.remove(call);
    this.#window.detach(call);
    this.proceed();
  }

  protected forget(): void {
    this.#window.detach();
  }

  /**
   * Handles an answer of the usual form in the bytes that arrived. Returns false for others: they arrive as replies.
   */
  override takeAnswer(token: number, bytes: Uint8Array, start: number, end: number): boolean {
    const call = this.#window.peek(token);
    const usual = call === undefined ? 0 : call.destination.readUsualAck(bytes, start, end);
    if (usual === 0) return false;
    this.noteAnswer();
    this.#window.take(token);
    this.#acknowledge(call!, this.#window.row, Math.abs(usual), usual < 0);
    this.#afterAnswer();
    return true;
  }

  reply(msg: Msg): void {
    const token = tokenOf(msg, this.#prefixLength);
    const body = msg.data;
    if (this.takeAnswer(token, body, 0, body.length)) return;
    this.noteAnswer();
    if (!this.#window.take(token)) return;
    const call = this.#window.owner!;
    this.#readAnswer(call, this.#window.row, body, statusOf(msg));
    this.#afterAnswer();
  }

  #readAnswer(call: Call, index: number, body: Uint8Array, status: number): void {
    const source = call.destination.source;
    const ack = parseAck(body, status, source);
    if (ack.kind === "stored") this.#acknowledge(call, index, ack.sequence, ack.duplicate);
    else this.#reject(call, index, rejectionOf(ack, source));
  }

  #acknowledge(call: Call, index: number, sequence: number, duplicate: boolean): void {
    if (!duplicate && call.ledger.mayBeStoredTwice(index)) return this.#reject(call, index, STORED_LATE);
    call.acknowledge(index, sequence, duplicate);
    const { offsets } = call.rows;
    this.backlog.retry.noteSuccess();
    this.host.noteAcknowledged(1, duplicate ? 1 : 0, offsets[index + 1]! - offsets[index]!);
    if (call.ledger.allAcknowledged) this.#complete(call);
  }

  #complete(call: Call): void {
    const index = sequenceBreak(call.ledger);
    if (index < 0) return call.settle();
    const sequence = call.ledger.sequences[index];
    // The rows that were stored before the break are gone with the old stream.
    for (let i = 0; i < index; i++) call.reject(i, "unknown");
    this.host.fail({
      code: "publish.stream_changed",
      reason: `its sequence ${sequence} is not above that of the row before it: the stream was recreated`,
      call,
      index,
    });
  }

  #reject(call: Call, index: number, rejection: Rejection): void {
    call.reject(index, rejection.stored);
    const safe = rejection.stored === "no" || call.rows.hasId(index);
    if (this.backlog.takeBack(call, index, rejection.retry, safe, now())) return;
    this.host.fail({ ...rejection, call, index });
  }

  #afterAnswer(): void {
    // Also if nothing is outstanding: this clears the timer, which would keep the process running.
    if (this.stopped || !this.backlog.empty || this.#window.count === 0) this.proceed();
    this.host.noteChange();
  }

  protected nextDue(): number {
    const { nextDeadline } = this.#window;
    return this.stopped || this.#full ? nextDeadline : Math.min(nextDeadline, this.backlog.due);
  }

  protected expire(time: number): void {
    while (this.#window.expire(time)) {
      this.#reject(this.#window.owner!, this.#window.row, timeoutRejection("acknowledgment", this.#timeout));
    }
  }

  protected submit(time: number): void {
    const { retry } = this.backlog;
    this.#full = !this.backlog.submitAgain(time, (call, index) => this.#submit(call, index, time));
    // With one row in flight at a time, no row may overtake a row that waits to be resent.
    const held = this.#inOrder && retry.size > 0;
    if (!this.#full && !held && !retry.pausing(time)) {
      this.backlog.submitCalls((call) => this.#submitRows(call, time));
    }
    this.#wire.flush();
  }

  /** Submits a call's rows. Returns false if the window is full. */
  #submitRows(call: Call, time: number): boolean {
    while (call.next < call.count) {
      if (!this.#submit(call, call.next, time)) return false;
    }
    call.finishSubmission();
    return true;
  }

  #submit(call: Call, index: number, time: number): boolean {
    const rows = call.rows;
    const size = rows.sizeOf(index);
    if (!this.#window.fits(size)) return false;
    const fault = call.ledger.resendFault(index, this.#timeout);
    if (fault !== undefined) {
      this.host.fail(resendFailure(fault, call, index));
      return false;
    }
    const token = this.#window.reserve(call, index, size, time + this.#timeout);
    call.submit(index, index + 1, time);
    try {
      this.#wire.send(rows, index, token);
    } catch (error) {
      this.#window.take(token);
      call.withdraw(index);
      throw error;
    }
    this.#submitted++;
    return true;
  }
}

/**
 * Returns the first row, among those submitted once and stored as new, whose sequence is below its predecessor's: the
 * stream was deleted and recreated in between. Returns -1 if sequences rise.
 */
function sequenceBreak({ codes, tries, sequences }: KnownRows): number {
  let previous = 0;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] !== ACKED || tries[i] !== 1) continue;
    if (sequences[i]! <= previous) return i;
    previous = sequences[i]!;
  }
  return -1;
}
