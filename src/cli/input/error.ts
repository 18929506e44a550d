/**
 * The error for an input that cannot be read.
 *
 * @module
 */

/**
 * An input that cannot be read: not found, truncated, of another format, or with unsupported content. The message is for
 * the user of the command and names the input.
 */
export class InputError extends Error {
  /** Always `"InputError"`. */
  override readonly name = "InputError" as const;
}
