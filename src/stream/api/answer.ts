/**
 * What the JetStream API answers: read from bytes that anybody may have sent.
 *
 * @module
 */

import { ConnectionError } from "../../errors/mod.ts";
import { CLUSTER_NOT_AVAILABLE, NOT_ENABLED, NOT_ENABLED_FOR_ACCOUNT } from "./server_codes.ts";

/** A failure that the JetStream API answered with. */
export interface ApiFailure {
  /** `code` is like an HTTP status, `err_code` the server's own number. */
  readonly error: { readonly code: number; readonly err_code?: number; readonly description?: string };
}

/** What was asked for, or the failure. */
export type ApiAnswer<T> = T | ApiFailure;

/** Whether the API answered with a failure. */
export function isApiFailure(answer: object): answer is ApiFailure {
  const error = (answer as { error?: unknown }).error;
  return isObject(error) && typeof error.code === "number";
}

/** JetStream off for this account or server, and a cluster whose meta group has no leader. */
const NO_JETSTREAM: ReadonlySet<number> = new Set([CLUSTER_NOT_AVAILABLE, NOT_ENABLED_FOR_ACCOUNT, NOT_ENABLED]);

/** A failure in the server's words. */
export function failureText({ description, err_code, code }: ApiFailure["error"]): string {
  return `${description ?? "no reason given"} (${err_code ?? code})`;
}

/** Parts of an answer that readers of its type rely on. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  stream_info_response: ["config", "state"],
  stream_create_response: ["config", "state"],
  account_info_response: ["limits"],
  stream_msg_get_response: ["message"],
  consumer_create_response: ["config"],
};

/**
 * Answers have some KiB, those of streams with very many subjects some hundred. What is longer is not parsed: 64 MiB of
 * brackets from a hostile peer would hold the process up for 25 s.
 */
const LARGEST_ANSWER = 4 * 1024 * 1024;

/**
 * An answer from its bytes, checked to be JetStream's and of the type asked for (`stream_info_response`), or the
 * failure in it. Anything else throws a {@linkcode ConnectionError}.
 */
export function readAnswer<T extends object>(data: Uint8Array, subject: string, type: string): ApiAnswer<T> {
  // A stored message may be as large as the server takes them.
  const answer = data.length > LARGEST_ANSWER && type !== "stream_msg_get_response" ? undefined : parse(data);
  if (!isObject(answer) || answer.type !== `io.nats.jetstream.api.v1.${type}` || !isWhole(answer, type)) {
    const got = data.length === 0 ? "nothing in it" : firstBytes(data);
    throw new ConnectionError(
      "connection.no_answer",
      `Cannot ask ${subject}: the answer is not JetStream's: received ${got}`,
    );
  }
  if (isApiFailure(answer) && NO_JETSTREAM.has(answer.error.err_code ?? 0)) {
    throw new ConnectionError("connection.no_jetstream", `Cannot ask ${subject}: ${failureText(answer.error)}`);
  }
  return answer as ApiAnswer<T>;
}

/**
 * The first bytes of something that was not understood, at most 80 characters, anything but printable ASCII escaped.
 */
export function firstBytes(data: Uint8Array): string {
  let text = "";
  for (const byte of data) {
    const next = byte < 0x20 || byte > 0x7e ? `\\x${byte.toString(16).padStart(2, "0")}` : String.fromCharCode(byte);
    if (text.length + next.length > 80) return `"${text}"... (${data.length} bytes)`;
    text += next;
  }
  return `"${text}"`;
}

/** JSON from bytes; undefined for anything else, and for nesting that overflows a parser's stack. */
function parse(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    return undefined;
  }
}

function isWhole(answer: Record<string, unknown>, type: string): boolean {
  if ("error" in answer) return isApiFailure(answer);
  return (PARTS[type] ?? []).every((part) => isObject(answer[part])) && hasSubjects(answer.config);
}

/** Subjects, if present, are strings. */
function hasSubjects(config: unknown): boolean {
  const subjects = isObject(config) ? config.subjects ?? [] : [];
  return Array.isArray(subjects) && subjects.every((subject) => typeof subject === "string");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
