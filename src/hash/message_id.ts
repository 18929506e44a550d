/**
 * Message ids: the SHA-256 of a row's identity, the same across attempts, batch sizes, runtimes and languages.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import type { IdScope } from "../types/mod.ts";
import { escapeGo, LONGEST_ESCAPE } from "./go_json.ts";
import { hashAfter, writeHex } from "./sha256.ts";

/** Characters of an id: SHA-256 in hex. */
export const ID_LENGTH = 64;

const QUOTE = 0x22;
const CLOSING = 0x5d;

/**
 * The number of kept views of the scratch bytes, one per length: making a view per row costs as much as escaping the id.
 */
const KEPT_VIEWS = 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Returns the string whose hash is the message id: what Go's `encoding/json` writes for
 * `[namespace, stream, subject, resource, event id]`, where the namespace is itself such a string, of tenant, pipeline
 * and sink connection. The subject is the template with the resource in it: `{row.NAME}` stays as written.
 *
 * Throws an EncodeError `encode.id` for a string with a lone surrogate, which UTF-8 cannot encode.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { messageIdentity } from "@jetrow/jetrow";
 *
 * const scope = { tenant: "acme", pipeline: "p", sinkConnection: "c", stream: "S", subject: "s.a", resource: "a" };
 * assert(messageIdentity(scope, "evt-1") === '["[\\"acme\\",\\"p\\",\\"c\\"]","S","s.a","a","evt-1"]');
 * ```
 */
export function messageIdentity(scope: IdScope, eventId: string): string {
  return `${identityPrefix(scope)}${goText("event id", eventId)}]`;
}

/**
 * Returns the message id of a row: the lower-case hex SHA-256 of its {@linkcode messageIdentity}. JetStream recognizes
 * duplicates by it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { messageId } from "@jetrow/jetrow";
 *
 * const scope = {
 *   tenant: "acme",
 *   pipeline: "pl_1",
 *   sinkConnection: "conn_7",
 *   stream: "WAREHOUSE_EVENTS",
 *   subject: "warehouse.orders",
 *   resource: "orders",
 * };
 * assert(
 *   messageId(scope, "evt-000001") === "5f7be8d0b18c298002ce2bc39dc28cb24564cee80e416250996f6840e3056cdb",
 * );
 * ```
 */
export function messageId(scope: IdScope, eventId: string): string {
  const hex = new Uint8Array(ID_LENGTH);
  writeHex(sha256(encoder.encode(messageIdentity(scope, eventId))), hex, 0);
  return decoder.decode(hex);
}

/** Writes the ids of one scope's rows. */
export interface IdHasher {
  /**
   * Writes the message id of the event id in `bytes[start, end)` as 64 hex digits into `target` from `at`. Returns false
   * and writes nothing if the event id is not valid UTF-8: two such ids could become one.
   */
  write(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): boolean;
}

/**
 * Returns a writer of ids for one scope. The common prefix of all identities is made once, and hashed once if the state of
 * the hash can be kept: a row adds its event id and the closing.
 */
export function idHasher(scope: IdScope): IdHasher {
  const prefix = encoder.encode(identityPrefix(scope) + '"');
  const { rest, write: writeHash } = hashAfter(prefix);
  let scratch = new Uint8Array(0);
  let views: Uint8Array[] = [];

  function grow(size: number): void {
    scratch = new Uint8Array(2 * size);
    scratch.set(rest);
    views = [];
  }

  function scratchTo(end: number): Uint8Array {
    return end < KEPT_VIEWS ? (views[end] ??= scratch.subarray(0, end)) : scratch.subarray(0, end);
  }

  return {
    write(bytes, start, end, target, at) {
      const size = rest.length + LONGEST_ESCAPE * (end - start) + 2;
      if (size > scratch.length) grow(size);
      const textEnd = escapeGo(bytes, start, end, scratch, rest.length);
      if (textEnd < 0) return false;
      scratch[textEnd] = QUOTE;
      scratch[textEnd + 1] = CLOSING;
      writeHash(scratchTo(textEnd + 2), target, at);
      return true;
    },
  };
}

/** Returns the identity up to the event id. */
function identityPrefix(scope: IdScope): string {
  const { tenant, pipeline, sinkConnection, stream, subject, resource } = scope;
  const namespace = `[${goText("tenant", tenant)},${goText("pipeline", pipeline)},${
    goText("sinkConnection", sinkConnection)
  }]`;
  return `[${goText("namespace", namespace)},${goText("stream", stream)},${goText("subject", subject)},${
    goText("resource", resource)
  },`;
}

/** Returns a string as Go's `encoding/json` writes it, with quotes. */
function goText(name: string, text: string): string {
  const bytes = encoder.encode(text);
  // Encoding replaces lone surrogates by U+FFFD: three bytes for one unit, so only a comparison finds them.
  if (bytes.length > text.length && decoder.decode(bytes) !== text) {
    throw new EncodeError(
      "encode.id",
      `Cannot make a message id: ${name} must be valid Unicode: received ${describe(text)}`,
    );
  }
  const escaped = new Uint8Array(LONGEST_ESCAPE * bytes.length);
  return `"${decoder.decode(escaped.subarray(0, escapeGo(bytes, 0, bytes.length, escaped, 0)))}"`;
}
