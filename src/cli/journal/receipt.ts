/**
 * Receipts of pieces that took several runs.
 *
 * @module
 */

import { DUPLICATE } from "../../publish/outcomes.ts";
import { makeReceipt } from "../../publish/receipt.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import type { InputField } from "./line.ts";
import type { KnownPiece } from "./piece.ts";

/**
 * The receipt of a piece all of whose rows are settled.
 *
 * @param piece the piece
 * @param destination where its rows went
 * @param lastSequence the highest sequence, where it is told without the others
 * @returns the receipt
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const place = { input: 0, batch: 2, offset: 10, rows: 2, bytes: 15, crc32c: 7, since: 0, after: 0 };
 * const piece = { ...place, codes: Uint8Array.of(1, 2), sequences: Float64Array.of(8, 3) };
 * const receipt = wholeReceipt(piece, { file: "a", size: 9, resource: "a", stream: "S", subject: "s" });
 * assert.deepEqual([receipt.rows, receipt.duplicates, receipt.sequences], [2, 1, [[8, 8], [3, 3]]]);
 * ```
 */
export function wholeReceipt(piece: KnownPiece, destination: InputField, lastSequence?: number): WriteReceipt {
  const { codes, sequences, rows, bytes, crc32c, batch, offset } = piece;
  const duplicates = sequences === undefined ? undefined : codes!.filter((code) => code === DUPLICATE).length;
  return makeReceipt({ destination, rows, bytes, crc32c, duplicates, sequences, batch, offset, lastSequence });
}
