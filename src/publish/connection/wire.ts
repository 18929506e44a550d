/**
 * The wire: the only file that sends rows. Each message has its own reply subject below the publisher's inbox, so that
 * the server acknowledges it. Some messages of a batch have none.
 *
 * @module
 */

import type { MsgHdrs, NatsConnection, PublishOptions } from "@nats-io/nats-core";
import type { PreparedRows } from "../../message/prepared_rows.ts";
import { copyBytes } from "../../util/copy_bytes.ts";
import { settle } from "../../util/settle.ts";
import { BurstMemory } from "./burst_memory.ts";
import { type FrameSink, frameSink } from "./client_internals.ts";

/** An error of the connection while rows were handed to it. */
export class WireError extends Error {
  /** Creates the error; `cause` is what the connection threw. */
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A reply subject with a whole number in it: the bytes before and after the number. */
export interface ReplyForm {
  /** The bytes before the number, which include the inbox. */
  readonly before: Uint8Array;
  /** The bytes after it. */
  readonly after: Uint8Array;
}

/** Sends messages one after another. */
export interface Wire {
  /** Whether the client holds the bytes of a sent row by reference until the next turn; otherwise they are copied. */
  readonly holdsRows: boolean;
  /** Sends a row that is answered below the inbox. May keep the message until {@linkcode flush}. */
  send(rows: PreparedRows, index: number, token: number): void;
  /** Sends a row with additional header lines. Without a token it requests no answer. */
  sendExtended(rows: PreparedRows, index: number, token: number | undefined, lines: Uint8Array): void;
  /** Sends a row that is answered on a subject of this form. */
  sendOn(rows: PreparedRows, index: number, reply: ReplyForm, number: number): void;
  /** Hands over the messages so far, then one without headers and payload. */
  sendEmpty(subject: string, reply: ReplyForm, number: number): void;
  /** Hands the messages so far to the client. */
  flush(): void;
  /** Releases the memory: nothing will be sent any more. */
  close(): void;
}

/** Returns the wire of a connection: whole frames if the client accepts them. `inbox` ends in a dot. */
export function openWire(nc: NatsConnection, inbox: string): Wire {
  const sink = frameSink(nc);
  return sink === undefined ? new PublishWire(nc, inbox) : new FrameWire(nc, sink, inbox);
}

/** Bytes of a frame beside subject, reply and message: `HPUB `, spaces, token, two lengths, CR LF twice. */
const FRAME_EXTRA = 64;

const NOTHING = new Uint8Array(0);
const decoder = new TextDecoder();

/** Collects frames: a burst, whatever its number of rows, is handed to the client in one piece and is one write. */
class FrameWire implements Wire {
  readonly holdsRows = false;
  readonly #nc: NatsConnection;
  readonly #sink: FrameSink;
  readonly #inbox: ReplyForm;
  readonly #memory: BurstMemory;
  #burst: Uint8Array<ArrayBuffer> = NOTHING;
  /** The first byte of the burst that was not handed over, and the position of the next frame. */
  #start = 0;
  #end = 0;
  #messages = 0;
  #bytes = 0;

  constructor(nc: NatsConnection, sink: FrameSink, inbox: string) {
    this.#nc = nc;
    this.#sink = sink;
    this.#inbox = { before: new TextEncoder().encode(inbox), after: NOTHING };
    this.#memory = new BurstMemory(async () => await nc.flush());
  }

  send(rows: PreparedRows, index: number, token: number): void {
    this.#frame(rows, index, this.#inbox, token, NOTHING);
  }

  sendExtended(rows: PreparedRows, index: number, token: number | undefined, lines: Uint8Array): void {
    this.#frame(rows, index, token === undefined ? undefined : this.#inbox, token ?? 0, lines);
  }

  sendOn(rows: PreparedRows, index: number, reply: ReplyForm, number: number): void {
    this.#frame(rows, index, reply, number, NOTHING);
  }

  sendEmpty(subject: string, reply: ReplyForm, number: number): void {
    this.flush();
    publishEmpty(this.#nc, subject, reply, number);
  }

  #frame(rows: PreparedRows, index: number, reply: ReplyForm | undefined, number: number, lines: Uint8Array): void {
    const from = rows.offsets[index]!;
    const to = rows.offsets[index + 1]!;
    const headerLength = rows.headerBytes(index) + lines.length;
    const subjectStart = rows.subjectStart(index);
    const subjectEnd = rows.subjectEnd(index);
    const total = headerLength + to - from;
    if (!(to <= rows.bytes.length)) throw released(index);
    const replyLength = reply === undefined ? 0 : reply.before.length + reply.after.length;
    const need = FRAME_EXTRA + subjectEnd - subjectStart + replyLength + total;
    if (this.#end + need > this.#burst.length) this.#more(need);
    const burst = this.#burst;
    let at = this.#end;
    if (headerLength > 0) burst[at++] = 0x48; // HPUB, or PUB without headers
    burst[at++] = 0x50;
    burst[at++] = 0x55;
    burst[at++] = 0x42;
    burst[at++] = 0x20;
    at = copyBytes(rows.subjectBytes, subjectStart, subjectEnd, burst, at);
    burst[at++] = 0x20;
    if (reply !== undefined) {
      at = copyBytes(reply.before, 0, reply.before.length, burst, at);
      at = writeWhole(burst, at, number);
      at = copyBytes(reply.after, 0, reply.after.length, burst, at);
      burst[at++] = 0x20;
    }
    if (headerLength > 0) {
      at = writeWhole(burst, at, headerLength);
      burst[at++] = 0x20;
    }
    at = writeWhole(burst, at, total);
    burst[at++] = 0x0d;
    burst[at++] = 0x0a;
    if (headerLength > 0) at = rows.writeHeaders(index, burst, at) + lines.length;
    if (lines.length > 0) endBlock(burst, at, lines);
    burst.set(rows.bytes.subarray(from, to), at);
    at += to - from;
    burst[at++] = 0x0d;
    burst[at++] = 0x0a;
    this.#end = at;
    this.#messages++;
    this.#bytes += total;
  }

  flush(): void {
    if (this.#end === this.#start) return;
    const [start, end] = [this.#start, this.#end];
    const { takesViews } = this.#sink;
    if (takesViews) this.#start = end;
    else this.#end = 0;
    try {
      if (this.#nc.isClosed()) throw new Error("the connection is closed");
      if (this.#nc.isDraining()) throw new Error("the connection is draining");
      const frames = takesViews ? this.#burst.subarray(start, end) : this.#burst.slice(0, end);
      this.#sink.send(frames, this.#messages, this.#bytes);
    } catch (cause) {
      throw new WireError(cause);
    }
    this.#messages = 0;
    this.#bytes = 0;
  }

  close(): void {
    this.#memory.close();
    this.#burst = NOTHING;
    this.#start = this.#end = 0;
  }

  #more(need: number): void {
    this.flush();
    const [full, handedOver] = [this.#burst, this.#end];
    if (handedOver > 0 || need > full.length) this.#burst = this.#memory.take(need);
    this.#start = this.#end = 0;
    if (handedOver > 0) void this.#memory.retire(full);
  }
}

function released(index: number): RangeError {
  return new RangeError(`Cannot send row ${index}: its bytes were released`);
}

/** Writes lines and a blank line at the end of a header block that ends at `end`. */
function endBlock(to: Uint8Array, end: number, lines: Uint8Array): void {
  to.set(lines, end - lines.length - 2);
  to[end - 2] = 0x0d;
  to[end - 1] = 0x0a;
}

function publish(nc: NatsConnection, subject: string, payload: Uint8Array, options: PublishOptions): void {
  try {
    const result: unknown = nc.publish(subject, payload, options);
    // A wrapped connection may return a promise. If it rejects, the row has no answer and times out.
    if (result !== undefined) void settle(() => result);
  } catch (cause) {
    throw new WireError(cause);
  }
}

function publishEmpty(nc: NatsConnection, subject: string, reply: ReplyForm, number: number): void {
  publish(nc, subject, NOTHING, { reply: replyString(reply, number) });
}

function replyString({ before, after }: ReplyForm, number: number): string {
  return decoder.decode(before) + number + decoder.decode(after);
}

/** Writes a whole number in decimal digits. */
function writeWhole(to: Uint8Array, at: number, value: number): number {
  let length = 1;
  for (let bound = 10; value >= bound; bound *= 10) length++;
  let rest = value;
  for (let i = at + length - 1; i >= at; i--) {
    const tenth = Math.floor(rest / 10);
    to[i] = 48 + rest - tenth * 10;
    rest = tenth;
  }
  return at + length;
}

class PublishWire implements Wire {
  readonly holdsRows = true;
  readonly #nc: NatsConnection;
  readonly #inbox: string;

  constructor(nc: NatsConnection, inbox: string) {
    this.#nc = nc;
    this.#inbox = inbox;
  }

  send(rows: PreparedRows, index: number, token: number): void {
    this.#publish(rows, index, this.#inbox + token, NOTHING);
  }

  sendExtended(rows: PreparedRows, index: number, token: number | undefined, lines: Uint8Array): void {
    this.#publish(rows, index, token === undefined ? undefined : this.#inbox + token, lines);
  }

  sendOn(rows: PreparedRows, index: number, reply: ReplyForm, number: number): void {
    this.#publish(rows, index, replyString(reply, number), NOTHING);
  }

  sendEmpty(subject: string, reply: ReplyForm, number: number): void {
    publishEmpty(this.#nc, subject, reply, number);
  }

  flush(): void {}

  close(): void {}

  #publish(rows: PreparedRows, index: number, reply: string | undefined, lines: Uint8Array): void {
    const bytes = new Uint8Array(rows.headerBytes(index) + lines.length);
    rows.writeHeaders(index, bytes, 0);
    if (lines.length > 0) endBlock(bytes, bytes.length, lines);
    const [from, to] = [rows.offsets[index]!, rows.offsets[index + 1]!];
    if (!(to <= rows.bytes.length)) throw released(index);
    const body = rows.bytes.subarray(from, to);
    // The client calls only `encode()` of the headers that it publishes.
    const headers = { encode: () => bytes } as unknown as MsgHdrs;
    publish(this.#nc, rows.subjectOf(index), body, {
      ...(reply === undefined ? {} : { reply }),
      ...(bytes.length === 0 ? {} : { headers }),
    });
  }
}
