/**
 * Reads answers of the JetStream API from bytes, which any client may have sent.
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

/** The requested data, or the failure. */
export type ApiAnswer<T> = T | ApiFailure;

/** Whether the API answered with a failure. */
export function isApiFailure(answer: object): answer is ApiFailure {
  const error = (answer as { error?: unknown }).error;
  return isObject(error) && typeof error.code === "number";
}

/** JetStream is off for this account or server, or the cluster's meta group has no leader. */
const NO_JETSTREAM: ReadonlySet<number> = new Set([CLUSTER_NOT_AVAILABLE, NOT_ENABLED_FOR_ACCOUNT, NOT_ENABLED]);

/** Returns a failure with the server's description. */
export function failureText({ description, err_code, code }: ApiFailure["error"]): string {
  return `${description ?? "no reason given"} (${err_code ?? code})`;
}

/** The parts of an answer that readers of its type rely on. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  stream_info_response: ["config", "state"],
  stream_create_response: ["config", "state"],
  account_info_response: ["limits"],
  stream_msg_get_response: ["message"],
  consumer_create_response: ["config"],
};

/**
 * Answers have some KiB, those of streams with very many subjects some hundred. Longer ones are not parsed: 64 MiB of
 * brackets from a malicious peer would block the process for 25 s.
 */
const LARGEST_ANSWER = 4 * 1024 * 1024;

/**
 * Returns an answer from its bytes, checked to be JetStream's and of the requested type (`stream_info_response`), or the
 * failure in it. Throws a {@linkcode ConnectionError} for anything else.
 */
export function readAnswer<T extends object>(data: Uint8Array, subject: string, type: string): ApiAnswer<T> {
  // A stored message may be as large as the server accepts.
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
 * Returns the beginning of an unknown answer, at most 80 characters, with everything but printable ASCII escaped.
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

/** Parses JSON; returns undefined for invalid JSON, and for nesting that overflows a parser's stack. */
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
