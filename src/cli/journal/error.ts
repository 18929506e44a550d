/**
 * The error for journals that cannot be written or resumed.
 *
 * @module
 */

/** A journal cannot be read, written or resumed. The message is for the user of the command. */
export class JournalError extends Error {
  /** Always `"JournalError"`. */
  override readonly name = "JournalError" as const;
}
