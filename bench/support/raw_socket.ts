/**
 * The upper limit: a socket that writes prepared frames, and only counts the answers.
 *
 * @module
 */

import { connect as dial, type Socket } from "node:net";

/** Messages as adjacent frames. */
export interface Frames {
  readonly bytes: Uint8Array;
  /** The offset of each frame; one entry more than messages. */
  readonly offsets: Uint32Array;
  /** The prefix of the reply subjects. */
  readonly inbox: string;
}

/** The parts of the messages. */
export interface Messages {
  readonly subject: string;
  /** A header block for each message, or one for all. */
  readonly block: (index: number) => Uint8Array;
  readonly bodies: readonly { readonly bytes: Uint8Array; readonly offsets: Uint32Array }[];
}

const utf8 = new TextEncoder();
const INBOX = "_INBOX.RAWSOCKETRAWSOCKETRAWS.";

/** Makes the frames of messages, with one reply subject per message. */
export function makeFrames({ subject, block, bodies }: Messages): Frames {
  const count = bodies.reduce((sum, { offsets }) => sum + offsets.length - 1, 0);
  const size = bodies.reduce((sum, { bytes }) => sum + bytes.length, 0) + count * (block(0).length + 100);
  const bytes = new Uint8Array(size);
  const frameOffsets = new Uint32Array(count + 1);
  let at = 0;
  let index = 0;
  for (const body of bodies) {
    for (let row = 0; row + 1 < body.offsets.length; row++, index++) {
      const headers = block(index);
      const part = body.bytes.subarray(body.offsets[row], body.offsets[row + 1]);
      const total = headers.length + part.length;
      at +=
        utf8.encodeInto(`HPUB ${subject} ${INBOX}${index} ${headers.length} ${total}\r\n`, bytes.subarray(at)).written;
      bytes.set(headers, at);
      bytes.set(part, at + headers.length);
      bytes[at + total] = 13;
      bytes[at + total + 1] = 10;
      at += total + 2;
      frameOffsets[index + 1] = at;
    }
  }
  return { bytes: bytes.subarray(0, at), offsets: frameOffsets, inbox: INBOX };
}

/** A connection for raw frames. */
export class RawSocket {
  readonly #socket: Socket;
  #answers = (_: Uint8Array): void => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#answers(chunk as Uint8Array));
  }

  /** Dials, and subscribes to the replies. */
  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    const socket = dial({ host: hostname, port: Number(port), noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once("data", () => resolve());
      socket.once("error", reject);
    });
    const raw = new RawSocket(socket);
    const options =
      `{"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"lang":"bench","version":"0"}`;
    const pong = new Promise<void>((resolve) => raw.#answers = () => resolve());
    socket.write(`CONNECT ${options}\r\nSUB ${INBOX}* 1\r\nPING\r\n`);
    await pong;
    return raw;
  }

  /** Sends all frames, at most `window` unanswered at a time; resolves when all are answered. */
  async send({ bytes, offsets }: Frames, window: number): Promise<void> {
    const count = offsets.length - 1;
    let sent = 0;
    let answered = 0;
    const write = (): void => {
      const end = Math.min(count, answered + window);
      if (end === sent) return;
      this.#socket.write(bytes.subarray(offsets[sent], offsets[end]));
      sent = end;
    };
    const counter = answerCounter();
    await new Promise<void>((resolve) => {
      this.#answers = (chunk) => {
        answered += counter(chunk);
        if (answered >= count) return resolve();
        write();
      };
      write();
    });
  }

  /** Closes the connection. */
  close(): void {
    this.#socket.destroy();
  }
}

/** The minimum distance between the closing braces of two answers; each answer has one. */
const APART = 60;

function answerCounter(): (chunk: Uint8Array) => number {
  let next = 0;
  return (chunk) => {
    let answers = 0;
    let at = next;
    for (; at < chunk.length; at++) {
      if (chunk[at] !== 0x7d) continue;
      answers++;
      at += APART;
    }
    next = Math.max(0, at - chunk.length);
    return answers;
  };
}
