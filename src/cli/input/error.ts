/**
 * What cannot be read.
 *
 * @module
 */

/**
 * An input that cannot be read: not found, cut, of another format, or holding what the reader does not know. The
 * message is for the person at the terminal and names the input.
 */
export class InputError extends Error {
  /** Always `"InputError"`. */
  override readonly name = "InputError" as const;
}
