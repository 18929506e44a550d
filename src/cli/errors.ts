/**
 * Wrong usage.
 *
 * @module
 */

/**
 * The command was called in a way it does not understand: exit code 2.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(new UsageError("unknown option --sream").name, "UsageError");
 * ```
 */
export class UsageError extends Error {
  /** Always `"UsageError"`. */
  override readonly name = "UsageError" as const;
}
