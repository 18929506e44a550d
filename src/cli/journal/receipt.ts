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

/** Returns the receipt of a piece with only settled rows. */
export function wholeReceipt(piece: KnownPiece, destination: InputField, lastSequence?: number): WriteReceipt {
  const { codes, sequences, rows, bytes, crc32c, batch, offset } = piece;
  const duplicates = sequences === undefined ? undefined : codes!.filter((code) => code === DUPLICATE).length;
  return makeReceipt({ destination, rows, bytes, crc32c, duplicates, sequences, batch, offset, lastSequence });
}
