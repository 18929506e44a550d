/**
 * Reads the files that options name.
 *
 * @module
 */

import { bytesOf } from "../bytes.ts";
import { UsageError } from "../errors.ts";
import { InputError } from "../input/error.ts";
import { jsonFault } from "./json_position.ts";

/** Reads a file or a named pipe, as the shell makes for `<(...)`. Errors begin with `label`. */
export async function readText(path: string, label: string, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  try {
    for await (const chunk of bytesOf(path, { stdin: NO_BYTES, signal })) {
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`${label} ${error.message}`) : error;
  }
  return text + decoder.decode();
}

/** Reads a file that holds one JSON object. Errors begin with `label`, and show nothing of the file's content. */
export async function readObject(path: string, label: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const text = (await readText(path, label, signal)).replace(/^\ufeff/, "");
  const fault = jsonFault(text);
  if (fault !== undefined) {
    throw new UsageError(`${label} ${path} is not valid JSON: line ${fault.line}, column ${fault.column}`);
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${label} ${path} must hold a JSON object`);
  }
  return { ...value };
}

/** Standard input is not read here: `-` is a file's name. */
const NO_BYTES: AsyncIterable<Uint8Array> = (async function* () {})();
