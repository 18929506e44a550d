/**
 * Journals that cannot be kept or gone on with.
 *
 * @module
 */

/** A journal cannot be read, kept, or gone on with. The message is for the person at the terminal. */
export class JournalError extends Error {
  /** Always `"JournalError"`. */
  override readonly name = "JournalError" as const;
}
