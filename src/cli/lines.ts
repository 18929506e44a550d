/**
 * Lines of a file or of standard input.
 *
 * @module
 */

import { createReadStream } from "node:fs";
import { fileFault } from "./file_fault.ts";
import { InputError } from "./input/error.ts";
import type { CliIo } from "./io.ts";

/** A line longer than any that is written is none. */
const LONGEST = 64 * 1024 * 1024;

/** A line. */
export interface Line {
  /** Its text, without its end. */
  readonly text: string;
  /** Its number, from 1 on. */
  readonly number: number;
  /** Whether a line feed ends it: the last line may be torn. */
  readonly whole: boolean;
}

/**
 * The lines of an input, read as they are asked for.
 *
 * @param file a path, or `-` for standard input
 * @param io where standard input comes from
 * @returns the lines, empty ones included
 * @throws {InputError} when it cannot be read
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const stdin = (async function* () {
 *   yield new TextEncoder().encode("one\ntw");
 *   yield new TextEncoder().encode("o");
 * })();
 * const lines = await Array.fromAsync(linesOf("-", { stdin }));
 * assert.deepEqual(lines.map(({ text, whole }) => [text, whole]), [["one", true], ["two", false]]);
 * ```
 */
export async function* linesOf(file: string, { stdin }: Pick<CliIo, "stdin">): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let number = 0;
  let rest = "";
  for await (const chunk of chunksOf(file, stdin)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop()!;
    for (const text of parts) yield { text, number: ++number, whole: true };
    if (rest.length > LONGEST) throw new InputError(`${nameOf(file)}, line ${number + 1}: too long for a receipt`);
  }
  rest += decoder.decode();
  if (rest !== "") yield { text: rest, number: ++number, whole: false };
}

/**
 * What an input is called.
 *
 * @param file a path, or `-`
 * @returns the path, or `standard input`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(nameOf("-"), "standard input");
 * ```
 */
export function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

async function* chunksOf(file: string, stdin: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* file === "-" ? stdin : createReadStream(file);
  } catch (error) {
    if ((error as { code?: string }).code === undefined) throw error;
    throw new InputError(`${nameOf(file)} cannot be read: ${fileFault(error)}`);
  }
}
