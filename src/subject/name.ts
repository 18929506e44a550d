/**
 * Validates publish subjects and stream names.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { RouteError } from "../errors/mod.ts";

/** The server's default `max_control_line`: bytes of a command line, without the command word and the line's end. */
export const MAX_COMMAND_LINE = 4096;

/**
 * Subjects below these call an API of the server, answer a request of another client, or are reserved by the server.
 */
const RESERVED: readonly string[] = ["$JS", "$JSC", "$SYS", "$NRG", "$GR", "_INBOX", "_R_", "_GR_", "$MQTT"];

/** The shortest that can follow a subject on the line: a reply subject of two tokens, two lengths of two digits. */
const SHORTEST_REST = " a.b 72 72".length;

const MAX_STREAM_NAME = 255;

const encoder = new TextEncoder();

/**
 * Checks a publish subject: non-empty tokens without wildcard characters, white space or control characters, valid
 * Unicode, no reserved prefix, and short enough for a command line.
 *
 * @throws {RouteError} `route.subject` if the string breaks one of these rules.
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
    throw new RouteError("route.subject", `Cannot publish to subject ${describe(subject)}: a subject ${fault}`, {
      subject,
    });
  }
}

/**
 * Checks a stream name: ASCII letters, digits, `-` and `_`, at most 255 bytes.
 *
 * @throws {RouteError} `route.stream_name` if the string breaks this rule.
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
 * Returns the rule that a string breaks as a publish subject, to follow "a subject"; undefined for a valid one.
 */
export function subjectFault(subject: string): string | undefined {
  const fault = tokensFault(subject);
  if (fault !== undefined) return fault;
  const reserved = RESERVED.find((prefix) => subject.startsWith(`${prefix}.`));
  if (reserved !== undefined) return `must not be below ${reserved}., which is reserved by the server`;
  const size = encoder.encode(subject).length;
  const limit = MAX_COMMAND_LINE - SHORTEST_REST;
  return size > limit ? `must leave room on a command line of 4096 bytes: it has ${size}` : undefined;
}

/** Returns the rule that a string breaks as a sequence of literal tokens; undefined for a valid one. */
export function tokensFault(value: string): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  if (value.split(".").includes("")) return "must not contain an empty token";
  if (/[*>]/.test(value)) return "must not contain a wildcard (* or >)";
  if (/[\s\p{Cc}]/u.test(value)) return "must not contain white space or control characters";
  if (!value.isWellFormed()) return "must not contain a lone surrogate, which UTF-8 cannot encode";
  return undefined;
}

/** Returns the rule that a string breaks as one token of a subject; undefined for a valid one. */
export function tokenFault(value: string): string | undefined {
  return value.includes(".") ? "must not contain a dot" : tokensFault(value);
}

/**
 * Returns the rule that a string breaks as a stream name, to follow "a stream name"; undefined for a valid one.
 */
export function streamNameFault(name: string): string | undefined {
  if (typeof name !== "string") return "must be a string";
  if (name === "") return "must not be empty";
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return "must consist of letters, digits, - and _";
  return name.length > MAX_STREAM_NAME
    ? `must have at most ${MAX_STREAM_NAME} bytes: it has ${name.length}`
    : undefined;
}

/**
 * Returns the bytes of the command line of a publish with a reply and headers, as the server counts them: `<subject>
 * <reply> <bytes of headers> <total bytes>`. Above {@linkcode MAX_COMMAND_LINE} the server closes the connection.
 */
export function commandLineBytes(
  subject: string,
  replyLength: number,
  headerLength: number,
  totalLength: number,
): number {
  return encoder.encode(subject).length + replyLength + `${headerLength}`.length + `${totalLength}`.length + 3;
}
