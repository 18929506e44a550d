/**
 * Reads receipts that `jetrow publish` has printed or written to a journal.
 *
 * @module
 */

import type { WriteReceipt } from "../../types/mod.ts";
import { InputError } from "../input/error.ts";
import type { CliIo } from "../io.ts";
import { FIRST_CHECK, JOURNAL_BEGINNING, parseLine } from "../journal/line.ts";
import { nameOf } from "../bytes.ts";
import { linesOf } from "../lines.ts";

/** The beginning of a journal's lines; its first line may be incomplete. */
const JOURNAL_BEGINS = '{"kind":"';

/** A receipt and its position. */
export interface NamedReceipt {
  /** The receipt; not yet checked. */
  readonly receipt: WriteReceipt;
  /** File and line. */
  readonly where: string;
}

/**
 * Yields the receipts of an input, one per line. Skips a journal's other lines, and its last line if that is incomplete,
 * as after a crash of the command.
 *
 * @throws {InputError} for a line that is not a JSON object
 */
export async function* receiptsOf(file: string, io: CliIo): AsyncGenerator<NamedReceipt> {
  let journal = false;
  let check: number | undefined;
  for await (const { text, number, whole } of linesOf(file, io)) {
    if (text.trim() === "") continue;
    const where = `${nameOf(file)}, line ${number}`;
    const line = objectOf(text);
    if (number === 1 && text.startsWith(JOURNAL_BEGINNING)) check = FIRST_CHECK;
    if (check !== undefined) check = nextCheck(text, check, where);
    journal ||= text.startsWith(JOURNAL_BEGINS.slice(0, text.length));
    if (line === undefined) {
      if (!journal) throw new InputError(`${where}: not a receipt: it is not a JSON object`);
      await io.stderr.write(`jetrow: ${where} is ${whole ? "not valid JSON" : "incomplete"}: skipped\n`);
      continue;
    }
    if (line.kind === undefined || line.kind === "receipt") yield { receipt: line as unknown as WriteReceipt, where };
  }
}

/** Returns the checksum of a journal's line; for an incomplete line that of the line before it. */
function nextCheck(text: string, before: number, where: string): number {
  const parsed = parseLine(text, before);
  if (parsed === "edited") {
    throw new InputError(`${where}: the journal was edited after it was written: it cannot be trusted`);
  }
  return parsed === "torn" ? before : parsed.check;
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}
