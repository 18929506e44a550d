/**
 * Reads a journal, to continue its run.
 *
 * @module
 */

import { stat } from "node:fs/promises";
import { fileFault } from "../file_fault.ts";
import { InputError } from "../input/error.ts";
import { linesOf } from "../lines.ts";
import { JournalError } from "./error.ts";
import { FIRST_CHECK, hasCheck, JOURNAL_BEGINNING, type JournalLine, parseLine } from "./line.ts";
import { JournalState } from "./state.ts";
import type { JournalEnd } from "./writer.ts";

/** A journal that was read. */
export interface ReadJournal {
  /** Its content. */
  readonly state: JournalState;
  /** Its end. */
  readonly end: JournalEnd;
}

const NO_STDIN = { stdin: (async function* () {})() };

/**
 * Reads a journal. Its last line may be incomplete, without checksum and line feed. So may a line after which another
 * process has continued.
 *
 * @throws {InputError} if it cannot be read
 * @throws {JournalError} if it is not a journal, or was edited
 */
export async function readJournal(path: string, signal?: AbortSignal): Promise<ReadJournal> {
  const state = new JournalState(path);
  // Before reading: lines that another process adds meanwhile are detected when something is appended.
  const found = await stat(path).catch((error) => {
    throw new InputError(`${path} cannot be read: ${fileFault(error)}`);
  });
  if (!found.isFile()) throw new InputError(`${path} cannot be read as a journal: it is not a regular file`);
  const { size } = found;
  let check = FIRST_CHECK;
  let torn: { readonly text: string; readonly number: number } | undefined;
  let open = false;
  for await (
    const { text, number, whole } of linesOf(path, signal === undefined ? NO_STDIN : { ...NO_STDIN, signal })
  ) {
    if (number === 1 && !text.startsWith(JOURNAL_BEGINNING.slice(0, text.length))) {
      throw new JournalError(`${path} is not a journal of jetrow publish --receipt`);
    }
    const parsed = parseLine(text, check);
    const where = `${path}, line ${number}`;
    if (torn !== undefined && (typeof parsed === "string" || !goesOn(parsed.line, state))) {
      throw new JournalError(`${path}, line ${number - 1}: damaged, and more follows`);
    }
    if (parsed === "edited") {
      throw new JournalError(`${where}: the journal was edited after it was written: it cannot be trusted`);
    }
    open = !whole;
    if (parsed === "torn") {
      torn = { text, number };
      continue;
    }
    // An incomplete line counts as not written: a begin line is synced before a row of its piece is sent.
    torn = undefined;
    check = parsed.check;
    state.take(parsed.line, number);
  }
  if (torn !== undefined && (!open || hasCheck(torn.text))) {
    throw new JournalError(
      `${path}, line ${torn.number}: damaged after it was written whole: its rows may have been sent`,
    );
  }
  return { state, end: { size, check, open } };
}

/** Returns whether an incomplete line is the last one of its process. */
function goesOn({ kind }: JournalLine, state: JournalState): boolean {
  return kind === "resume" || (kind === "run" && state.run === undefined);
}
