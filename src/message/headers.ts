/**
 * The header block: the only place that knows how a message's headers are written.
 *
 * @module
 */

import { ID_LENGTH } from "../hash/message_id.ts";
import type { Operation } from "../types/mod.ts";

/** The longest header block that servers accept, in bytes. Above it they answer err_code 10097. */
export const MAX_HEADER_BYTES = 65_535;

/** What the headers of a message say, apart from its id. */
export interface HeaderFields {
  /** `Filament-Operation`. */
  readonly operation: Operation;
  /** `Nats-Expected-Stream`, where it is sent. */
  readonly expectedStream?: string | undefined;
  /** `Nats-TTL`, where it is sent. */
  readonly ttl?: string | undefined;
  /** Static headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether there is room for a message id. */
  readonly withId: boolean;
}

/** A header block as bytes, the same for all rows but for the id. */
export interface HeaderBlock {
  /** From `NATS/1.0` to the blank line; where there is room for an id, it holds 64 zeros. */
  readonly bytes: Uint8Array;
  /** Where the id goes; -1 without one. */
  readonly idAt: number;
}

const utf8 = new TextEncoder();

/** Writes a header block: content type, operation, expected stream, time to live, static headers, and last the id. */
export function headerBlock(fields: HeaderFields): HeaderBlock {
  const lines = ["NATS/1.0", "Content-Type: application/json", `Filament-Operation: ${fields.operation}`];
  if (fields.expectedStream !== undefined) lines.push(`Nats-Expected-Stream: ${fields.expectedStream}`);
  if (fields.ttl !== undefined) lines.push(`Nats-TTL: ${fields.ttl}`);
  for (const [name, value] of fields.headers) lines.push(`${name}: ${value}`);
  if (fields.withId) lines.push(`Nats-Msg-Id: ${"0".repeat(ID_LENGTH)}`);
  const bytes = utf8.encode(`${lines.join("\r\n")}\r\n\r\n`);
  return { bytes, idAt: fields.withId ? bytes.length - ID_LENGTH - 4 : -1 };
}

/** A header block with more lines before its blank line: headers that a publish mode adds to single messages. */
export function extendBlock(block: Uint8Array, lines: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(block.length + lines.length);
  bytes.set(block);
  bytes.set(lines, block.length - 2);
  bytes.set(block.subarray(block.length - 2), bytes.length - 2);
  return bytes;
}
