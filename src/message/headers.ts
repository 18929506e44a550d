/**
 * The header block: the only place that knows how a message's headers are written.
 *
 * @module
 */

import { ID_LENGTH } from "../hash/message_id.ts";
import type { Operation } from "../types/mod.ts";

/** The longest header block that servers accept, in bytes. Above it they answer err_code 10097. */
export const MAX_HEADER_BYTES = 65_535;

/** The headers that rows have in common: all but their ids and the headers with values of a row. */
export interface HeaderFields {
  /** Whether content type, operation and expected stream are sent. @default {true} */
  readonly standard?: boolean | undefined;
  /** Whether a block without a line is no bytes at all, so that the message is sent without headers. */
  readonly mayBeEmpty?: boolean | undefined;
  /** `Content-Type`. @default {"application/json"} */
  readonly contentType?: string | undefined;
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

/** A header block as bytes, the same for all rows but for the id and the lines of a row. */
export interface HeaderBlock {
  /** From `NATS/1.0` to the blank line; where there is room for an id, it holds 64 zeros. */
  readonly bytes: Uint8Array;
  /** Where the id goes; -1 without one. */
  readonly idAt: number;
  /** Where the lines of a row go. */
  readonly linesAt: number;
}

const utf8 = new TextEncoder();

/** The block of a message without headers. */
const EMPTY: HeaderBlock = { bytes: new Uint8Array(0), idAt: -1, linesAt: 0 };

/**
 * Writes a header block: content type, operation, expected stream, time to live, the caller's headers, and last the id.
 */
export function headerBlock(fields: HeaderFields): HeaderBlock {
  const { standard = true, contentType = "application/json", operation, expectedStream } = fields;
  const lines = ["NATS/1.0"];
  if (standard) lines.push(`Content-Type: ${contentType}`, `Filament-Operation: ${operation}`);
  if (standard && expectedStream !== undefined) lines.push(`Nats-Expected-Stream: ${expectedStream}`);
  if (fields.ttl !== undefined) lines.push(`Nats-TTL: ${fields.ttl}`);
  for (const [name, value] of fields.headers) lines.push(`${name}: ${value}`);
  if (lines.length === 1 && !fields.withId && fields.mayBeEmpty) return EMPTY;
  const before = `${lines.join("\r\n")}\r\n`;
  const id = fields.withId ? `Nats-Msg-Id: ${"0".repeat(ID_LENGTH)}\r\n` : "";
  const bytes = utf8.encode(`${before}${id}\r\n`);
  return {
    bytes,
    idAt: fields.withId ? bytes.length - ID_LENGTH - 4 : -1,
    linesAt: bytes.length - id.length - 2,
  };
}
