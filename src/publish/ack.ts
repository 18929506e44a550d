/**
 * Reads a server's answer to a published message.
 *
 * @module
 */

import { firstBytes } from "../stream/api/answer.ts";
import type { AckSource } from "../stream/ack.ts";

/** What an answer says about one row. */
export type Ack =
  | { readonly kind: "stored"; readonly sequence: number; readonly duplicate: boolean }
  | { readonly kind: "wrong_stream"; readonly stream: string; readonly domain: string | undefined }
  | { readonly kind: "refused"; readonly code: number; readonly status: number; readonly description: string }
  // code: the server's err_code, else its code, else the status
  | { readonly kind: "bad"; readonly reason: string };

/** The longest answer that is parsed: a publish acknowledgment has some hundred bytes. */
const LONGEST_ACK = 16_384;

/** The meaning of statuses of answers without a body. */
const STATUS_TEXT: Readonly<Record<number, string>> = { 429: "too many requests", 503: "no responders" };

/** JSON is UTF-8 without a byte order mark (RFC 8259, 8.1). */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads an answer's body; `status` is the status of its header block, such as 503, or 0 without one. */
export function parseAck(body: Uint8Array, status: number, source: AckSource): Ack {
  if (body.length === 0) {
    if (status < 400) return { kind: "bad", reason: "an empty answer" };
    return { kind: "refused", code: status, status, description: STATUS_TEXT[status] ?? `status ${status}` };
  }
  if (body.length > LONGEST_ACK) return { kind: "bad", reason: `an answer of ${body.length} bytes` };
  const reply = parseObject(body);
  if (reply === undefined && status < 400) return { kind: "bad", reason: `no JSON object: ${firstBytes(body)}` };
  if (reply?.error !== undefined && reply.error !== null) return refusal(reply.error, status, body);
  if (reply === undefined || status >= 400) {
    return { kind: "refused", code: status, status, description: firstBytes(body) };
  }
  return checkedAck(reply, source, body);
}

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a JSON object. Returns undefined for any other body, and for one longer than any acknowledgment. */
export function parseObject(body: Uint8Array): JsonObject | undefined {
  if (body.length > LONGEST_ACK) return undefined;
  try {
    const value: unknown = JSON.parse(strict.decode(body));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
  } catch {
    return undefined; // not JSON, not UTF-8, or nested deeper than the engine's stack
  }
}

function refusal(error: unknown, status: number, body: Uint8Array): Ack {
  const { code, err_code, description } = error as JsonObject;
  const known = [err_code, code].find((value) => Number.isSafeInteger(value) && (value as number) > 0) as
    | number
    | undefined;
  if (known === undefined && status < 400) {
    return { kind: "bad", reason: `an error without a code: ${firstBytes(body)}` };
  }
  return {
    kind: "refused",
    code: known ?? status,
    status: status || (Number.isSafeInteger(code) ? code as number : 0),
    description: typeof description === "string" ? description.slice(0, 200) : "no description",
  };
}

function checkedAck(reply: JsonObject, source: AckSource, body: Uint8Array): Ack {
  const { stream, seq, duplicate } = reply;
  if (typeof stream !== "string" || stream === "") return { kind: "bad", reason: `no stream: ${firstBytes(body)}` };
  const domain = reply.domain === undefined || reply.domain === "" ? undefined : reply.domain;
  if (domain !== undefined && typeof domain !== "string") {
    return { kind: "bad", reason: `a domain that is not a string: ${firstBytes(body)}` };
  }
  if (stream !== source.stream || (source.domain !== undefined && domain !== source.domain)) {
    return { kind: "wrong_stream", stream, domain };
  }
  if (!Number.isSafeInteger(seq) || (seq as number) <= 0) {
    return { kind: "bad", reason: `no positive sequence: ${firstBytes(body)}` };
  }
  if (duplicate !== undefined && typeof duplicate !== "boolean") {
    return { kind: "bad", reason: `a duplicate mark that is not a boolean: ${firstBytes(body)}` };
  }
  return { kind: "stored", sequence: seq as number, duplicate: duplicate === true };
}
