/**
 * Journals that cannot be kept or gone on with.
 *
 * @module
 */

/**
 * A journal cannot be read, kept, or gone on with. The message is for the person at the terminal.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.ok(new JournalError("orders.journal, line 3: no JSON").name === "JournalError");
 * ```
 */
export class JournalError extends Error {
  /** Always `"JournalError"`. */
  override readonly name = "JournalError" as const;
}
