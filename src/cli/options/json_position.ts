/**
 * Finds where a document stops being JSON. The runtimes' own messages quote the document, which may contain a credential.
 *
 * @module
 */

import { jsonFaultAt } from "../../json/write/embedded.ts";

/** A position in a document, both counted from 1. */
export interface TextPosition {
  readonly line: number;
  /** The column, in characters. */
  readonly column: number;
}

/** Returns the first position at which a document is not JSON; undefined if it is valid. */
export function jsonFault(text: string): TextPosition | undefined {
  const bytes = new TextEncoder().encode(text);
  const at = jsonFaultAt(bytes, 0, bytes.length);
  if (at < 0) return undefined;
  const lines = new TextDecoder().decode(bytes.subarray(0, at)).split("\n");
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 };
}
