/**
 * What may be a publish subject and what a stream name.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { RouteError } from "../errors/mod.ts";

/** The server's default `max_control_line`: bytes of a command line, without the command word and the line's end. */
export const MAX_COMMAND_LINE = 4096;

/**
 * Subjects below these call an API of the server, answer somebody's request, or are the server's own. A publish there
 * would be taken for such a call.
 */
const RESERVED: readonly string[] = ["$JS", "$JSC", "$SYS", "$NRG", "$GR", "_INBOX", "_R_", "_GR_", "$MQTT"];

/** The shortest that can follow a subject on the line: a reply subject of two tokens, two lengths of two digits. */
const SHORTEST_REST = " a.b 72 72".length;

const MAX_STREAM_NAME = 255;

const encoder = new TextEncoder();

/**
 * Throws a {@linkcode RouteError} (`route.subject`) unless the text is a subject to publish to: tokens that are not
 * empty, no wildcard character, white space or control character, valid Unicode, not below a reserved prefix, and short
 * enough for a command line.
 *
 * @example
 * ```ts
 * import { assertSubject } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assertSubject("events.orders");
 * assert.throws(() => assertSubject("events.*"), { code: "route.subject" });
 * assert.throws(() => assertSubject("$JS.API.INFO"), { code: "route.subject" });
 * ```
 */
export function assertSubject(subject: string): void {
  const fault = subjectFault(subject);
  if (fault !== undefined) {
    throw new RouteError("route.subject", `Cannot publish to ${describe(subject)}: a subject ${fault}`, { subject });
  }
}

/**
 * Throws a {@linkcode RouteError} (`route.stream_name`) unless the text is a stream name: ASCII letters, digits, `-`
 * and `_`, at most 255 bytes.
 *
 * @example
 * ```ts
 * import { assertStreamName } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assertStreamName("ORDERS_v2");
 * assert.throws(() => assertStreamName("orders.v2"), { code: "route.stream_name" });
 * ```
 */
export function assertStreamName(name: string): void {
  const fault = streamNameFault(name);
  if (fault !== undefined) {
    throw new RouteError("route.stream_name", `Cannot use ${describe(name)} as a stream: a stream name ${fault}`, {
      stream: name,
    });
  }
}

/**
 * Why a text is no publish subject, as the end of a sentence that begins with "a subject"; undefined when it is one.
 */
export function subjectFault(subject: string): string | undefined {
  const fault = tokensFault(subject);
  if (fault !== undefined) return fault;
  const reserved = RESERVED.find((prefix) => subject.startsWith(`${prefix}.`));
  if (reserved !== undefined) return `must not be below ${reserved}., which would call an API`;
  const size = encoder.encode(subject).length;
  const limit = MAX_COMMAND_LINE - SHORTEST_REST;
  return size > limit ? `must leave room on a command line of 4096 bytes: it has ${size}` : undefined;
}

/** Why a text is not a row of literal tokens; undefined when it is one. */
export function tokensFault(text: string): string | undefined {
  if (typeof text !== "string") return "must be a text";
  if (text === "") return "must not be empty";
  if (text.split(".").includes("")) return "must have no empty token";
  if (/[*>]/.test(text)) return "must have no wildcard (* or >)";
  if (/[\s\p{Cc}]/u.test(text)) return "must have no white space or control character";
  if (!text.isWellFormed()) return "must have no half of a surrogate pair, which UTF-8 cannot say";
  return undefined;
}

/**
 * Why a text is no stream name, as the end of a sentence that begins with "a stream name"; undefined when it is one.
 */
export function streamNameFault(name: string): string | undefined {
  if (typeof name !== "string") return "must be a text";
  if (name === "") return "must not be empty";
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return "must be of letters, digits, - and _";
  return name.length > MAX_STREAM_NAME
    ? `must have at most ${MAX_STREAM_NAME} bytes: it has ${name.length}`
    : undefined;
}

/**
 * Bytes of the line that publishes with a reply and headers, as the server counts them: `<subject> <reply> <bytes of
 * headers> <bytes in all>`. The server cuts the connection when they pass {@linkcode MAX_COMMAND_LINE}.
 */
export function commandLineBytes(
  subject: string,
  replyLength: number,
  headerLength: number,
  totalLength: number,
): number {
  return encoder.encode(subject).length + replyLength + `${headerLength}`.length + `${totalLength}`.length + 3;
}
