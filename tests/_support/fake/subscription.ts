/**
 * A subscription of the scripted connection.
 *
 * @module
 */

import type { Msg, MsgCallback, Subscription, SubscriptionOptions } from "@nats-io/nats-core";
import { PushQueue } from "./push_queue.ts";

/** A subscription with a callback or as an iterator. */
export class FakeSubscription implements Subscription {
  readonly closed: Promise<void | Error>;
  callback: MsgCallback<Msg>;
  readonly #subject: string;
  readonly #sid: number;
  readonly #queue = new PushQueue<Msg>();
  readonly #onClose: () => void;
  #max: number | undefined;
  #received = 0;
  #isClosed = false;
  #resolve: (reason: void | Error) => void = () => {};

  constructor(subject: string, sid: number, options: SubscriptionOptions, onClose: () => void) {
    this.#subject = subject;
    this.#sid = sid;
    this.#max = options.max;
    this.#onClose = onClose;
    this.callback = options.callback ?? ((error, message) => error ? this.end(error) : this.#queue.push(message));
    this.closed = new Promise((resolve) => this.#resolve = resolve);
  }

  /** Whether it matches a message on this subject. */
  matches(subject: string): boolean {
    const tokens = subject.split(".");
    const filter = this.#subject.split(".");
    for (let i = 0; i < filter.length; i++) {
      if (filter[i] === ">") return tokens.length > i;
      if (i >= tokens.length || (filter[i] !== "*" && filter[i] !== tokens[i])) return false;
    }
    return tokens.length === filter.length;
  }

  /** Delivers a message to it, whether it has ended or not. */
  receive(message: Msg): void {
    this.#received++;
    this.callback(null, message);
    if (this.#max !== undefined && this.#received >= this.#max) this.end();
  }

  /** Ends it, for a reason: a refused subject, a closed connection. */
  end(reason?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.end(reason);
    this.#resolve(reason);
    this.#onClose();
  }

  unsubscribe(max?: number): void {
    if (max === undefined || this.#received >= max) this.end();
    else this.#max = max;
  }

  drain(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  [Symbol.asyncIterator](): AsyncIterator<Msg> {
    return this.#queue[Symbol.asyncIterator]();
  }

  isClosed(): boolean {
    return this.#isClosed;
  }

  isDraining(): boolean {
    return false;
  }

  getSubject(): string {
    return this.#subject;
  }

  getReceived(): number {
    return this.#received;
  }

  getProcessed(): number {
    return this.#received;
  }

  getPending(): number {
    return this.#queue.length;
  }

  getID(): number {
    return this.#sid;
  }

  getMax(): number | undefined {
    return this.#max;
  }
}
