/**
 * Splits the NATS protocol, in both directions, into frames.
 *
 * @module
 */

import { concat } from "../bytes.ts";
import type { TcpProxyOptions, Way } from "./tcp_proxy.ts";

/** A frame: `PUB`, `HPUB`, `MSG`, `HMSG` with headers and payload, any other operation with its line only. */
export interface Frame {
  /** The operation, in capitals. */
  readonly op: string;
  /** The arguments on the line, split at white space. */
  readonly args: readonly string[];
  /** The header block, from `NATS/1.0` to the blank line. */
  readonly headers?: Uint8Array;
  /** The payload. */
  readonly payload?: Uint8Array;
  /** The whole frame as it was sent. */
  readonly bytes: Uint8Array;
}

const WITH_PAYLOAD = new Set(["PUB", "HPUB", "MSG", "HMSG"]);

/** Splits a stream of bytes into frames, however the bytes are chunked. */
export class FrameSplitter {
  #rest: Uint8Array = new Uint8Array();

  /** Takes bytes, and returns the frames that are complete now. */
  push(bytes: Uint8Array): Frame[] {
    let rest = this.#rest.length === 0 ? bytes : concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    for (let frame = firstFrame(rest); frame !== undefined; frame = firstFrame(rest)) {
      frames.push(frame);
      rest = rest.subarray(frame.bytes.length);
    }
    this.#rest = rest.slice();
    return frames;
  }
}

/** The subject of a publish or a message. */
export function subjectOf(frame: Frame): string {
  return frame.args[0] ?? "";
}

/**
 * Makes a tap for the proxy that receives frames instead of bytes.
 *
 * ```ts
 * const acks = (frame: Frame, way: Way) => way === "down" && frame.op === "MSG" ? undefined : frame.bytes;
 * await using proxy = await startTcpProxy(server.url, editFrames(acks));
 * ```
 *
 * @param edit returns the bytes to pass on in place of a frame; undefined: the frame is dropped
 * @returns options for `startTcpProxy`
 */
export function editFrames(edit: (frame: Frame, way: Way) => Uint8Array | undefined): TcpProxyOptions {
  return {
    tap: (way) => {
      const splitter = new FrameSplitter();
      return (bytes) => concat(splitter.push(bytes).map((frame) => edit(frame, way) ?? new Uint8Array()));
    },
  };
}

const LF = 10;

function firstFrame(bytes: Uint8Array): Frame | undefined {
  const end = bytes.indexOf(LF);
  if (end < 0) return undefined;
  const line = new TextDecoder().decode(bytes.subarray(0, end)).trim();
  const [first = "", ...args] = line.split(/[ \t]+/);
  const op = first.toUpperCase();
  if (!WITH_PAYLOAD.has(op)) return { op, args, bytes: bytes.subarray(0, end + 1) };
  const total = Number(args.at(-1));
  const headerLength = op.startsWith("H") ? Number(args.at(-2)) : 0;
  const start = end + 1;
  if (bytes.length < start + total + 2) return undefined;
  return {
    op,
    args,
    ...(op.startsWith("H") ? { headers: bytes.subarray(start, start + headerLength) } : {}),
    payload: bytes.subarray(start + headerLength, start + total),
    bytes: bytes.subarray(0, start + total + 2),
  };
}
