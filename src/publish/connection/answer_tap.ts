/**
 * Reads answers from the bytes that the connection received, before the client makes messages of them.
 *
 * The client's parser creates three views, an array and two objects per message. If a read begins with answers below
 * an inbox, they are read here and the client never sees them. Everything from the first other byte on is passed to
 * the client's parser unchanged. Client CPU per row of 256 bytes: 1.9 instead of 2.5 us on Deno, 1.9 instead of 2.8 on
 * Bun, 3.2 instead of 3.5 on Node.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type ClientReader, clientReader } from "./client_internals.ts";

/**
 * Handles the answer to the message of a token; the answer's body is `bytes[start, end)`. Returns false if the answer
 * is not of the usual form or the token is not outstanding: the client then delivers the answer like any other message.
 */
export type TakeAnswer = (token: number, bytes: Uint8Array, start: number, end: number) => boolean;

/** An inbox whose answers are read here. */
interface Tap {
  /** What its messages begin with: `MSG ` and the inbox. */
  readonly head: Uint8Array;
  readonly take: TakeAnswer;
}

/** The taps of each connection's reader: several publishers may share a connection. */
const taps = new WeakMap<ClientReader, AnswerReader>();

/**
 * Passes answers below `inbox`, which ends in a dot, to `take`. Returns a function that ends this. Does nothing if the
 * client's parser is not of the known kind: all answers then arrive as messages.
 */
export function tapAnswers(nc: NatsConnection, inbox: string, take: TakeAnswer): () => void {
  const client = clientReader(nc);
  if (client === undefined) return () => {};
  let reader = taps.get(client);
  if (reader === undefined) taps.set(client, reader = new AnswerReader(client));
  const tap: Tap = { head: new TextEncoder().encode(`MSG ${inbox}`), take };
  reader.add(tap);
  return () => reader.remove(tap);
}

const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const NONE = -1;

/** Reads instead of the client's parser as long as there are taps. */
class AnswerReader {
  readonly #client: ClientReader;
  #taps: readonly Tap[] = [];
  /** Bytes of the bodies taken from the current read. */
  #taken = 0;

  constructor(client: ClientReader) {
    this.#client = client;
  }

  add(tap: Tap): void {
    if (this.#taps.length === 0) this.#client.intercept((bytes) => this.#read(bytes));
    this.#taps = [...this.#taps, tap];
  }

  remove(tap: Tap): void {
    this.#taps = this.#taps.filter((other) => other !== tap);
    if (this.#taps.length === 0) this.#client.intercept(undefined);
  }

  #read(bytes: Uint8Array): void {
    let at = 0;
    if (!this.#client.betweenMessages) {
      at = firstMessage(bytes);
      this.#client.parse(bytes.subarray(0, at));
    }
    if (this.#client.betweenMessages) at = this.#takeAnswers(bytes, at);
    // The PONG that answers a burst's PING must not pass the answers behind it to the slower parser.
    while (at < bytes.length && this.#client.betweenMessages && holds(bytes, at, PONG)) {
      const next = at + PONG.length;
      this.#client.parse(bytes.subarray(at, next));
      at = this.#takeAnswers(bytes, next);
    }
    if (at < bytes.length) this.#client.parse(bytes.subarray(at));
  }

  /** Takes answers from `at` on. Returns the position of the first byte that belongs to no answer. */
  #takeAnswers(bytes: Uint8Array, at: number): number {
    let messages = 0;
    this.#taken = 0;
    for (let next = this.#takeAnswer(bytes, at); next !== NONE; next = this.#takeAnswer(bytes, at)) {
      at = next;
      messages++;
    }
    if (messages > 0) this.#client.count(messages, this.#taken);
    return at;
  }

  #takeAnswer(bytes: Uint8Array, at: number): number {
    for (const { head, take } of this.#taps) {
      if (!holds(bytes, at, head)) continue;
      return this.#takeBody(bytes, at + head.length, take);
    }
    return NONE;
  }

  /**
   * Takes the message whose token begins at `at`. Returns the position of the next message, or NONE if it was not
   * taken.
   */
  #takeBody(bytes: Uint8Array, at: number, take: TakeAnswer): number {
    const tokenEnd = digitsEnd(bytes, at);
    if (bytes[tokenEnd] !== SPACE) return NONE;
    const subscriptionEnd = digitsEnd(bytes, tokenEnd + 1);
    if (bytes[subscriptionEnd] !== SPACE) return NONE;
    const sizeEnd = digitsEnd(bytes, subscriptionEnd + 1);
    if (bytes[sizeEnd] !== CR || bytes[sizeEnd + 1] !== LF) return NONE;
    const size = wholeAt(bytes, subscriptionEnd + 1, sizeEnd);
    const start = sizeEnd + 2;
    const end = start + size;
    if (bytes[end] !== CR || bytes[end + 1] !== LF) return NONE;
    if (!take(wholeAt(bytes, at, tokenEnd), bytes, start, end)) return NONE;
    this.#taken += size;
    return end + 2;
  }
}

/** Returns where the first message begins after the rest of another one; the end of the bytes if none does. */
function firstMessage(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (holds(bytes, at + 1, MSG)) return at + 1;
  }
  return bytes.length;
}

const MSG = new TextEncoder().encode("MSG ");
const PONG = new TextEncoder().encode("PONG\r\n");

function holds(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  if (at + part.length > bytes.length) return false;
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
  return at;
}

/** Returns the whole number in digits; NaN without digits, or with more of them than a number holds exactly. */
function wholeAt(bytes: Uint8Array, at: number, end: number): number {
  if (at === end || end - at > 16) return NaN;
  let value = 0;
  for (; at < end; at++) value = value * 10 + bytes[at]! - 0x30;
  return value;
}
