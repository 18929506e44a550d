/** The two libraries that read Arrow data in tests, and helpers for encoded rows. */

import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import { type EncodeError, isJetrowError } from "../../../src/errors/mod.ts";
import type { ArrowRows, EncodedRows } from "../../../src/types/mod.ts";

/** A library that reads Arrow IPC. */
export interface ArrowReader {
  readonly name: "apache-arrow" | "flechette";
  /** The rows; undefined if the library cannot read them. */
  read(ipc: Uint8Array<ArrayBuffer>): ArrowRows | undefined;
}

/** apache-arrow and flechette. */
export const arrowReaders: readonly ArrowReader[] = [
  { name: "apache-arrow", read: readApacheArrow },
  { name: "flechette", read: readFlechette },
];

/** apache-arrow 21.2 has no list views and no run-end encoding. */
function readApacheArrow(ipc: Uint8Array<ArrayBuffer>): ArrowRows | undefined {
  try {
    return arrow.tableFromIPC(ipc);
  } catch (error) {
    if (/^Unrecognized type: "(ListView|RunEndEncoded)"/.test((error as Error).message)) return undefined;
    throw error;
  }
}

/**
 * flechette 2.3 has no nested dictionaries, no negative scales and no rows without columns. It decodes dictionaries
 * when it reads them: integers beyond 2^53 need the option, and times beyond it cannot be read.
 */
export function readFlechette(ipc: Uint8Array<ArrayBuffer>): ArrowRows | undefined {
  try {
    const table = flechette.tableFromIPC(ipc, { useBigInt: true, useDecimalInt: true });
    return table.children.length === 0 ? undefined : table as unknown as ArrowRows;
  } catch (error) {
    if (/reading 'cache'|Exponent must be positive|BigInt exceeds integer/.test((error as Error).message)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Whether flechette reads a generated file incorrectly: it keeps one dictionary per id for the whole table, the last.
 */
export function isMisread(library: string, about: string): boolean {
  return library === "flechette" && /replaced [1-9]/.test(about);
}

/** Each row's body as bytes. */
export function bodies(encoded: EncodedRows): Uint8Array[] {
  return Array.from(
    { length: encoded.offsets.length - 1 },
    (_, row) => encoded.bytes.subarray(encoded.offsets[row], encoded.offsets[row + 1]),
  );
}

/** Each row's body as a string; throws on invalid UTF-8. */
export function bodyStrings(encoded: EncodedRows): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return bodies(encoded).map((body) => decoder.decode(body));
}

/** Returns the EncodeError that a function throws; throws any other error, and fails if there is none. */
export function refusalOf(run: () => unknown): EncodeError {
  try {
    run();
  } catch (error) {
    if (isJetrowError(error) && error.name === "EncodeError") return error;
    throw error;
  }
  throw new Error("The rows were not refused");
}
