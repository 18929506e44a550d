/**
 * Individual delivery: each row is acknowledged for itself, many of them outstanding at a time.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import { parseAck } from "../ack.ts";
import { statusOf, tokenOf } from "../connection/client_internals.ts";
import type { Delivery } from "../call.ts";
import { now } from "./deadlines.ts";
import { Lane } from "./lane.ts";
import { type Miss, missOf, notResent, STORED_LATE, timedOut } from "../rejection.ts";
import type { LaneHost } from "./pump.ts";
import { Window } from "./window.ts";
import type { Wire } from "../connection/wire.ts";

/** The lane of `publishMode: "individual"`. */
export class IndividualLane extends Lane {
  readonly #wire: Wire;
  readonly #window: Window<Delivery>;
  readonly #timeout: number;
  readonly #prefixLength: number;
  readonly #inOrder: boolean;
  /** Whether a row that may be sent again has no room in the window: it waits for an answer, not for a time. */
  #full = false;
  #submitted = 0;

  /** A lane over a wire; answers' subjects have the token behind `prefixLength` characters. */
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

  cancel(delivery: Delivery): void {
    this.backlog.remove(delivery);
    this.#window.detach(delivery);
    this.pump.proceed();
  }

  protected forget(): void {
    this.#window.detach();
  }

  /** Takes an answer of the usual form from the bytes that arrived; false for others, which then come as replies. */
  take(token: number, bytes: Uint8Array, start: number, end: number): boolean {
    const delivery = this.#window.peek(token);
    const usual = delivery === undefined ? 0 : delivery.destination!.readUsualAck(bytes, start, end);
    if (usual === 0) return false;
    this.pump.noteAnswer();
    this.#window.take(token);
    this.#acknowledge(delivery!, this.#window.row, Math.abs(usual), usual < 0);
    this.#afterAnswer();
    return true;
  }

  reply(msg: Msg): void {
    const token = tokenOf(msg, this.#prefixLength);
    const body = msg.data;
    if (this.take(token, body, 0, body.length)) return;
    this.pump.noteAnswer();
    if (!this.#window.take(token)) return;
    const delivery = this.#window.owner!;
    this.#unusual(delivery, this.#window.row, body, statusOf(msg));
    this.#afterAnswer();
  }

  #unusual(delivery: Delivery, index: number, body: Uint8Array, status: number): void {
    const source = delivery.destination!.source;
    const ack = parseAck(body, status, source);
    if (ack.kind === "stored") this.#acknowledge(delivery, index, ack.sequence, ack.duplicate);
    else this.#missed(delivery, index, missOf(ack, source));
  }

  #acknowledge(delivery: Delivery, index: number, sequence: number, duplicate: boolean): void {
    if (!duplicate && delivery.mayBeStoredTwice(index)) return this.#missed(delivery, index, STORED_LATE);
    delivery.acknowledge(index, sequence, duplicate);
    const { offsets } = delivery.rows!;
    this.backlog.retry.succeeded();
    this.host.acknowledged(1, duplicate ? 1 : 0, offsets[index + 1]! - offsets[index]!);
    if (delivery.complete) this.#completed(delivery);
  }

  #completed(delivery: Delivery): void {
    const index = delivery.sequenceBreak();
    if (index < 0) return delivery.done.resolve();
    // What was stored before the break went with the old stream.
    for (let i = 0; i < index; i++) delivery.refuse(i, "unknown");
    this.host.failed({
      code: "publish.stream_changed",
      reason: `its sequence ${delivery.sequences[index]} is not above the row's before it: the stream was recreated`,
      delivery,
      index,
    });
  }

  #missed(delivery: Delivery, index: number, miss: Miss): void {
    delivery.refuse(index, miss.stored);
    const safe = miss.stored === "no" || delivery.rows!.hasId(index);
    if (this.backlog.takeBack(delivery, index, miss.again, safe, now())) return;
    this.host.failed({ ...miss, delivery, index });
  }

  #afterAnswer(): void {
    // With nothing outstanding the timer is cleared: it would keep the process running.
    if (this.pump.stopped || !this.backlog.empty || this.#window.count === 0) this.pump.proceed();
    this.host.moved();
  }

  protected nextDue(): number {
    const { nextDeadline } = this.#window;
    return this.pump.stopped || this.#full ? nextDeadline : Math.min(nextDeadline, this.backlog.due);
  }

  protected expire(time: number): void {
    while (this.#window.expire(time)) {
      this.#missed(this.#window.owner!, this.#window.row, timedOut("acknowledgment", this.#timeout));
    }
  }

  protected submit(time: number): void {
    const { retry } = this.backlog;
    this.#full = !this.backlog.submitAgain(time, (delivery, index) => this.#submit(delivery, index, time));
    // One row at a time: none overtakes a row that waits to be sent again.
    const held = this.#inOrder && retry.size > 0;
    if (!this.#full && !held && !retry.pausing(time)) {
      this.backlog.submitCalls((delivery) => this.#submitRows(delivery, time));
    }
    this.#wire.flush();
  }

  /** Submits a call's rows; false when the window is full. */
  #submitRows(delivery: Delivery, time: number): boolean {
    while (delivery.next < delivery.count) {
      if (!this.#submit(delivery, delivery.next, time)) return false;
      delivery.next++;
    }
    delivery.allSubmitted();
    return true;
  }

  #submit(delivery: Delivery, index: number, time: number): boolean {
    const rows = delivery.rows!;
    const size = rows.sizeOf(index);
    if (!this.#window.fits(size)) return false;
    const fault = delivery.resendFault(index, this.#timeout);
    if (fault !== undefined) {
      this.host.failed(notResent(fault, delivery, index));
      return false;
    }
    delivery.firstSent.mark(index, index + 1, time);
    const token = this.#window.reserve(delivery, index, size, time + this.#timeout);
    delivery.submit(index);
    try {
      this.#wire.send(rows, index, token);
    } catch (error) {
      this.#window.take(token);
      delivery.withdraw(index);
      throw error;
    }
    this.#submitted++;
    return true;
  }
}
