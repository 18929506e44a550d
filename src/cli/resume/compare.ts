/**
 * Checks that a run is the journal's run.
 *
 * @module
 */

import { JournalError } from "../journal/error.ts";
import type { RunLine } from "../journal/line.ts";
import { formatCount } from "../report.ts";
import { UsageError } from "../errors.ts";

/** The options that decide which rows there are and their ids. */
export type RunFields = Pick<RunLine, "inputs" | "options">;

/**
 * Compares a run with a journal's.
 *
 * @throws {UsageError} if options differ
 * @throws {JournalError} if inputs differ
 */
export function assertSameRun(path: string, journal: RunFields, run: RunFields): void {
  for (const name of new Set([...Object.keys(journal.options), ...Object.keys(run.options)])) {
    const [was, is] = [journal.options[name], run.options[name]];
    if (was !== is) throw differs(path, name.includes(".") ? name : `--${name}`, was, is);
  }
  if (journal.inputs.length !== run.inputs.length) {
    const [was, is] = [journal.inputs.length, run.inputs.length];
    throw new UsageError(`Cannot resume: ${path} is of ${formatCount(was, "input")}: received ${is}`);
  }
  for (const [index, was] of journal.inputs.entries()) {
    const is = run.inputs[index]!;
    for (const field of ["resource", "stream", "subject"] as const) {
      if (was[field] !== is[field]) throw differs(path, `the ${field} of ${is.file}`, was[field], is[field]);
    }
    if (was.size !== is.size) {
      throw new JournalError(
        `Cannot resume: ${path} is of an input that was ${sizeOf(was.size)}: ${is.file} is ${sizeOf(is.size)}`,
      );
    }
  }
}

function differs(path: string, what: string, was: string | number | undefined, is: typeof was): UsageError {
  const shown = (value: typeof was): string => value === undefined ? "not set" : JSON.stringify(value);
  return new UsageError(`Cannot resume: ${what} must be as in ${path}, ${shown(was)}: received ${shown(is)}`);
}

function sizeOf(size: number | null): string {
  return size === null ? "a pipe" : `${size} bytes`;
}
