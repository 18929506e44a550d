/**
 * A way to read messages by their sequence. It returns what it can; other messages may still exist.
 *
 * @module
 */

import type { Msg } from "@nats-io/nats-core";
import { ConnectionError } from "../../errors/mod.ts";
import type { Window } from "./ranges.ts";

/** Bodies by sequence. */
export type Bodies = Map<number, Uint8Array>;

/** A way to read messages. */
export interface Source {
  /** Reads the messages of a window. */
  read(window: Window): Promise<Bodies>;
  /** Removes what it has created on the server. */
  close(): Promise<void>;
}

/** The maximum number of bytes that a request asks for at once; a single message may exceed it. */
export const REQUEST_BYTES = 4 * 1024 * 1024;

/** Returns whether a message is a status of the server: a code and no body. */
export function isStatus(msg: Msg): boolean {
  return msg.data.length === 0 && (msg.headers?.code ?? 0) > 0;
}

/** The error of an answer that ends a read. */
export function refusalError(subject: string, msg: Msg): ConnectionError {
  const reason = isStatus(msg) ? `${msg.headers!.code} ${msg.headers!.description}` : "not a message of a batch";
  return new ConnectionError("connection.no_answer", `Cannot read by ${subject}: the server answered: ${reason}`);
}
