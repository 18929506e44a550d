/**
 * Renders how a command ended: the lines on standard error, and the exit code.
 *
 * @module
 */

import { isJetrowError, type JetrowError } from "../errors/mod.ts";
import { InputError } from "./input/error.ts";
import { OutputError } from "./io.ts";
import { JournalError } from "./journal/error.ts";
import { renderMessage } from "../errors/base.ts";
import { flagOf } from "./options/option_names.ts";
import { visible } from "./text.ts";
import { RunFailure, UsageError } from "./errors.ts";

/** The end of a command. */
export interface Ending {
  /** The exit code: 1 failed, 2 wrong usage, 130 interrupted. */
  readonly exitCode: number;
  /** Lines for standard error. */
  readonly lines: readonly string[];
}

/** Exit code of wrong usage. */
const EXIT_USAGE = 2;
/** Exit code of an interrupt: 128 and SIGINT's number. */
const EXIT_INTERRUPTED = 130;

/** Returns the lines and the exit code of a failure. `signal` is the interrupt's. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  const reason = error instanceof RunFailure ? error.reason : error;
  const account = error instanceof RunFailure ? error.lines : [];
  const message = signal.aborted && isAbort(reason, signal) ? "interrupted" : messageOf(reason);
  return {
    exitCode: signal.aborted ? EXIT_INTERRUPTED : exitCodeOf(reason),
    lines: [message, ...account.map(visible)].map((line) => `jetrow: ${line}`),
  };
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (isJetrowError(error) && error.code === "publish.aborted");
}

function exitCodeOf(error: unknown): number {
  const usage = error instanceof UsageError || (isJetrowError(error) && error.name === "ConfigError");
  return usage ? EXIT_USAGE : 1;
}

function messageOf(error: unknown): string {
  if (isJetrowError(error)) return visible(codedMessage(error));
  if (isOurs(error) || isPermission(error)) return visible(error.message);
  // A defect of jetrow: a bug report needs the stack.
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** Deno's message names the missing permission and its flag. */
function isPermission(error: unknown): error is Error {
  return error instanceof Error && ["NotCapable", "PermissionDenied"].includes(error.name);
}

/** Renders an error of the library with the command's option names, after its code, which docs/delivery.md explains. */
export function codedMessage(error: JetrowError): string {
  return `${error.code}: ${renderMessage(error, flagOf)}`;
}

function isOurs(error: unknown): error is Error {
  return [UsageError, InputError, OutputError, JournalError].some((kind) => error instanceof kind);
}

/** Formats a number with thousands separators. */
export function formatNumber(count: number): string {
  return count.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats a number of bytes: `0.1 kB`, `12.5 MB`. */
export function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Formats a number of rows.
 *
 * @param count the number
 * @returns `1 row`, `2 rows`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(rowsOf(1) + rowsOf(1000), "1 row1,000 rows");
 * ```
 */
export function rowsOf(count: number): string {
  return formatCount(count, "row");
}

/** Formats a number of things. */
export function formatCount(count: number, one: string): string {
  return `${formatNumber(count)} ${one}${count === 1 ? "" : "s"}`;
}
