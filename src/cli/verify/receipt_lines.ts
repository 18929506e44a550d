/**
 * Receipts as `jetrow publish` prints them or keeps them in a journal.
 *
 * @module
 */

import type { WriteReceipt } from "../../types/mod.ts";
import { InputError } from "../input/error.ts";
import type { CliIo } from "../io.ts";
import { FIRST_CHECK, JOURNAL_BEGINNING, parseLine } from "../journal/line.ts";
import { nameOf } from "../bytes.ts";
import { linesOf } from "../lines.ts";

/** What a journal's lines begin with; its first line may be the torn one. */
const JOURNAL_BEGINS = '{"kind":"';

/** A receipt and where it stands. */
export interface NamedReceipt {
  /** The receipt; not yet checked. */
  readonly receipt: WriteReceipt;
  /** File and line. */
  readonly where: string;
}

/**
 * The receipts of an input, one a line. A journal's other lines are passed over, and its last one where it is torn: a
 * crash of the command may leave it so.
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

/** Returns the checksum of a journal's line; that of the line before it for a torn one. */
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
