/**
 * Individual delivery: each row is acknowledged for itself, many of them outstanding at a time.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import type { Settings } from "../options.ts";
import { parseAck } from "./ack.ts";
import { statusOf, tokenOf } from "./client_internals.ts";
import type { Delivery, Failure } from "./delivery.ts";
import { ExpiryTimer } from "./expiry.ts";
import type { Lane, LaneHost } from "./lane.ts";
import { type Miss, missOf } from "./miss.ts";
import { RetryQueue } from "./retry.ts";
import { Window } from "./window.ts";
import type { Wire } from "./wire.ts";

/** The lane of `publishMode: "individual"`. */
export class IndividualLane implements Lane {
  readonly #wire: Wire;
  readonly #host: LaneHost;
  readonly #window: Window<Delivery>;
  readonly #timeout: number;
  readonly #prefixLength: number;
  readonly #timer: ExpiryTimer;
  readonly #retry: RetryQueue;
  #queue: Delivery[] = [];
  readonly #inOrder: boolean;
  #stopped = false;
  #pumping = false;
  /** Whether a row that could go again has no room in the window: an answer is waited for, not a time. */
  #full = false;
  #submitted = 0;

  /** A lane over a wire; answers' subjects have the token behind `prefixLength` characters. */
  constructor(wire: Wire, settings: Settings, prefixLength: number, host: LaneHost) {
    this.#wire = wire;
    this.#host = host;
    this.#window = new Window(settings.maxInFlight, settings.maxInFlightBytes);
    this.#timeout = settings.publishTimeout;
    this.#inOrder = settings.maxInFlight === 1;
    this.#prefixLength = prefixLength;
    this.#retry = new RetryQueue(settings.retry?.budget);
    this.#timer = new ExpiryTimer(() => this.#nextTurn(), (now) => this.#due(now));
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

  push(delivery: Delivery): void {
    this.#queue.push(delivery);
  }

  wake(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // All answers of one read are handled before microtasks run: the submitter wakes once a read.
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  cancel(delivery: Delivery): void {
    this.#window.detach(delivery, (owner) => void owner.open--);
    this.#retry.remove(delivery);
    this.#queue = this.#queue.filter((queued) => queued !== delivery);
    if (this.#stopped) this.#reportDrained();
    else this.wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry.clear();
    this.#timer.arm();
    this.#reportDrained();
  }

  cut(): void {
    this.#stopped = true;
    this.#retry.clear();
    this.#window.detach(undefined, (owner) => void owner.open--);
    this.#timer.stop();
  }

  /** Takes an answer of the usual form from the bytes that arrived; false for any other, which then comes as a reply. */
  take(token: number, bytes: Uint8Array, start: number, end: number): boolean {
    const delivery = this.#window.peek(token);
    const usual = delivery === undefined ? 0 : delivery.destination!.readUsualAck(bytes, start, end);
    if (usual === 0) return false;
    this.#timer.noteProgress();
    this.#window.take(token);
    this.#acknowledge(delivery!, this.#window.row, Math.abs(usual), usual < 0);
    this.#afterAnswer(delivery!);
    return true;
  }

  reply(msg: Msg): void {
    const token = tokenOf(msg, this.#prefixLength);
    const body = msg.data;
    if (this.take(token, body, 0, body.length)) return;
    this.#timer.noteProgress();
    if (!this.#window.take(token)) return;
    const delivery = this.#window.owner!;
    this.#unusual(delivery, this.#window.row, body, statusOf(msg));
    this.#afterAnswer(delivery);
  }

  #unusual(delivery: Delivery, index: number, body: Uint8Array, status: number): void {
    const source = delivery.destination!.source;
    const ack = parseAck(body, status, source);
    if (ack.kind === "stored") this.#acknowledge(delivery, index, ack.sequence, ack.duplicate);
    else this.#missed(delivery, index, missOf(ack, source));
  }

  #acknowledge(delivery: Delivery, index: number, sequence: number, duplicate: boolean): void {
    delivery.acknowledge(index, sequence, duplicate);
    const { offsets } = delivery.rows!;
    this.#retry.succeeded();
    this.#host.acknowledged(1, duplicate ? 1 : 0, offsets[index + 1]! - offsets[index]!);
    if (delivery.complete) this.#completed(delivery);
  }

  #completed(delivery: Delivery): void {
    const index = delivery.sequenceBreak();
    if (index < 0) return delivery.done.resolve();
    // What was stored before the break went with the old stream.
    for (let i = 0; i < index; i++) delivery.refuse(i, "unknown");
    this.#host.failed({
      code: "publish.stream_changed",
      reason: `its sequence ${delivery.sequences[index]} is not above the row's before it: the stream was made anew`,
      delivery,
      index,
    });
  }

  #missed(delivery: Delivery, index: number, miss: Miss): void {
    delivery.refuse(index, miss.stored);
    const safe = miss.stored === "no" || delivery.rows!.hasId(index);
    if (!this.#stopped && safe && miss.again !== "never" && this.#retry.add(delivery, index, miss.again, now())) return;
    delivery.open--;
    const failure: Failure = { code: miss.code, reason: miss.reason, delivery, index, serverCode: miss.serverCode };
    this.#host.failed(failure);
  }

  #afterAnswer(delivery: Delivery): void {
    if (this.#stopped) this.#reportDrained();
    else if (this.#queue.length > 0 || this.#retry.size > 0 || delivery.open === 0) this.wake();
    this.#host.moved();
  }

  #reportDrained(): void {
    if (this.#window.count === 0) queueMicrotask(() => this.#host.drained());
  }

  #nextTurn(): number {
    const deadline = this.#window.nextDeadline;
    if (this.#stopped || this.#full) return deadline;
    const pauseEnd = this.#queue.length > 0 ? this.#retry.pauseEnd : Infinity;
    return Math.min(deadline, this.#retry.due, pauseEnd);
  }

  #due(time: number): void {
    while (this.#window.expire(time)) {
      const reason = `no acknowledgment within ${this.#timeout} ms`;
      // Lost answers say nothing of the next row's: no pause.
      this.#missed(this.#window.owner!, this.#window.row, {
        code: "publish.timeout",
        stored: "unknown",
        again: "later",
        reason,
      });
    }
    if (this.#stopped) this.#reportDrained();
    else this.#pump();
  }

  #pump(): void {
    if (this.#stopped) return;
    const time = now();
    try {
      this.#full = !this.#resubmit(time);
      // One row at a time: none overtakes a row that waits to be sent again.
      const held = this.#inOrder && this.#retry.size > 0;
      if (!this.#full && !held && !this.#retry.pausing(time)) this.#submitQueue(time);
      this.#wire.flush();
    } catch (cause) {
      this.#host.failed({ code: "publish.disconnected", reason: "the connection is lost", cause });
    }
    this.#timer.arm();
    this.#host.moved();
  }

  /** Sends rows again whose time has come; false when the window is full. */
  #resubmit(time: number): boolean {
    for (let item = this.#retry.peek(time); item !== undefined; item = this.#retry.peek(time)) {
      if (!this.#submit(item.delivery, item.index, time)) return false;
      this.#retry.shift();
    }
    return true;
  }

  #submitQueue(time: number): void {
    let finished = 0;
    for (const delivery of this.#queue) {
      if (!this.#submitRows(delivery, time)) break;
      finished++;
    }
    if (finished > 0) this.#queue = this.#queue.slice(finished);
  }

  /** Submits a call's rows; false when it is not loaded, or the window is full. */
  #submitRows(delivery: Delivery, time: number): boolean {
    if (delivery.rows === undefined) return delivery.over;
    while (delivery.next < delivery.count) {
      if (!this.#submit(delivery, delivery.next, time)) return false;
      delivery.next++;
      delivery.open++;
    }
    this.#wire.flush();
    // Bodies are needed no longer where the wire has copied them, and nothing will be sent again.
    if (!this.#wire.holdsRows && !this.#retry.enabled) delivery.release();
    delivery.submitted.resolve();
    if (delivery.count === 0) delivery.done.resolve();
    return true;
  }

  #submit(delivery: Delivery, index: number, time: number): boolean {
    const rows = delivery.rows!;
    const size = rows.sizeOf(index);
    if (!this.#window.fits(size)) return false;
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

/** Milliseconds that never go back: deadlines must not move with the wall clock. */
function now(): number {
  return performance.now();
}
