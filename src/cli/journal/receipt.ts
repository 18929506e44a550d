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

/** The receipt of a piece all of whose rows are settled. */
export function wholeReceipt(piece: KnownPiece, destination: InputField, lastSequence?: number): WriteReceipt {
  const { codes, sequences, rows, bytes, crc32c, batch, offset } = piece;
  const duplicates = sequences === undefined ? undefined : codes!.filter((code) => code === DUPLICATE).length;
  return makeReceipt({ destination, rows, bytes, crc32c, duplicates, sequences, batch, offset, lastSequence });
}
