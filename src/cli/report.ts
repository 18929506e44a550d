/**
 * How things ended: what is said on standard error, and the exit code.
 *
 * @module
 */

import { isJetrowError, type JetrowError, type RowOutcomes } from "../errors/mod.ts";
import { InputError } from "./input/error.ts";
import { OutputError } from "./io.ts";
import { JournalError } from "./journal/error.ts";
import { renderMessage } from "../errors/base.ts";
import { flagOf } from "./options/option_names.ts";
import { visible } from "./text.ts";
import { UsageError } from "./errors.ts";

/** How a command ends. */
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

/**
 * What to say of a failure.
 *
 * @param error what was thrown
 * @param signal aborted where the person at the terminal ended it
 * @returns the exit code and the lines
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ConfigError } from "../errors/mod.ts";
 *
 * const error = new ConfigError("config.missing", "--stream is required", { field: "--stream" });
 * const { exitCode, lines } = endingOf(error, new AbortController().signal);
 * assert.deepEqual([exitCode, lines], [2, ["jetrow: config.missing: --stream is required"]]);
 * ```
 */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  const message = signal.aborted && isAbort(error, signal) ? "interrupted" : messageOf(error);
  const exitCode = signal.aborted ? EXIT_INTERRUPTED : exitCodeOf(error);
  return { exitCode, lines: [`jetrow: ${message}`, ...outcomesOf(error)] };
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
  if (isOurs(error)) return visible(error.message);
  // A fault of the program: its place is what a report of it needs.
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/**
 * An error of the library in the command's words, its code first: by that it is found in docs/delivery.md.
 *
 * @param error the error
 * @returns the text
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RouteError } from "../errors/mod.ts";
 *
 * const error = new RouteError("route.missing", "there is no stream ORDERS and createStream is off");
 * assert.equal(codedMessage(error), "route.missing: there is no stream ORDERS and --create-stream is off");
 * ```
 */
export function codedMessage(error: JetrowError): string {
  return `${error.code}: ${renderMessage(error, flagOf)}`;
}

function isOurs(error: unknown): error is Error {
  return [UsageError, InputError, OutputError, JournalError].some((kind) => error instanceof kind);
}

function outcomesOf(error: unknown): string[] {
  if (!isJetrowError(error) || error.name !== "PublishError") return [];
  const counts = countsOf(error.rowOutcomes);
  const advice = error.rowOutcomes.counts.unknown > 0 ? " (sent and not answered: they may be stored or not)" : "";
  return counts === "" ? [] : [`jetrow: rows of the batch in hand: ${counts}${advice}`];
}

function countsOf({ counts }: RowOutcomes): string {
  const { acked, duplicate, rejected, unknown, unsent } = counts;
  const parts = [
    [acked, "acknowledged"],
    [duplicate, "duplicates"],
    [rejected, "rejected"],
    [unsent, "not sent"],
    [unknown, "of unknown fate"],
  ] as const;
  return parts.filter(([count]) => count > 0).map(([count, word]) => `${grouped(count)} ${word}`).join(", ");
}

/**
 * A number with its thousands set apart.
 *
 * @param count the number
 * @returns the text, the same in every locale
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(grouped(1234567), "1,234,567");
 * ```
 */
export function grouped(count: number): string {
  return count.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/**
 * Rows in words.
 *
 * @param count how many
 * @returns `1 row`, `2 rows`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(rowsOf(1) + rowsOf(1000), "1 row1,000 rows");
 * ```
 */
export function rowsOf(count: number): string {
  return counted(count, "row");
}

/**
 * How many there are of something.
 *
 * @param count the number
 * @param one what one of them is called
 * @returns `1 stream`, `2 streams`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual([counted(1, "stream"), counted(0, "error")], ["1 stream", "0 errors"]);
 * ```
 */
export function counted(count: number, one: string): string {
  return `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
}
