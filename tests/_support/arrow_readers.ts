/** The two readers of Arrow data that rows may come from, and what tests do with encoded rows. */

import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import { type EncodeError, isJetrowError } from "../../src/errors.ts";
import type { ArrowRows, EncodedRows } from "../../src/types.ts";

/** A library that reads Arrow IPC. */
export interface ArrowReader {
  readonly name: "apache-arrow" | "flechette";
  read(ipc: Uint8Array<ArrayBuffer>): ArrowRows;
}

/** apache-arrow and flechette. */
export const arrowReaders: readonly ArrowReader[] = [
  { name: "apache-arrow", read: (ipc) => arrow.tableFromIPC(ipc) },
  { name: "flechette", read: (ipc) => flechette.tableFromIPC(ipc) as unknown as ArrowRows },
];

/** Each row's body as bytes. */
export function bodies(encoded: EncodedRows): Uint8Array[] {
  return Array.from(
    { length: encoded.offsets.length - 1 },
    (_, row) => encoded.bytes.subarray(encoded.offsets[row], encoded.offsets[row + 1]),
  );
}

/** Each row's body as text; bytes that are no UTF-8 throw. */
export function bodyTexts(encoded: EncodedRows): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return bodies(encoded).map((body) => decoder.decode(body));
}

/** The EncodeError that a function throws; any other error goes on, and none is an error. */
export function refusalOf(run: () => unknown): EncodeError {
  try {
    run();
  } catch (error) {
    if (isJetrowError(error) && error.name === "EncodeError") return error;
    throw error;
  }
  throw new Error("The rows were not refused");
}
