/**
 * Headers that make rows one atomic batch (ADR-50): the batch's id, the row's place in it, and the commit on the last.
 *
 * @module
 */

/** Length of a batch id: one of the client's unique ids. Servers take up to 64 bytes. */
export const BATCH_ID_BYTES = 22;

/** Rows of a batch, at most: what servers take unless they are configured otherwise, which they do not tell. */
export const MOST_ROWS_OF_BATCH = 1000;

const ID = "Nats-Batch-Id: ";
const SEQUENCE = "Nats-Batch-Sequence: ";
const COMMIT = "Nats-Batch-Commit: 1\r\n";

const utf8 = new TextEncoder();

/** Bytes that its batch headers add to a row's header block; the server stores them with the row. */
export function batchHeaderBytes(index: number, last: boolean): number {
  const digits = String(index + 1).length;
  return ID.length + BATCH_ID_BYTES + SEQUENCE.length + digits + 4 + (last ? COMMIT.length : 0);
}

/** The header lines of a row, to go before its block's blank line; the last row's commit the batch. */
export function batchHeaders(id: string, index: number, last: boolean): Uint8Array {
  return utf8.encode(`${ID}${id}\r\n${SEQUENCE}${index + 1}\r\n${last ? COMMIT : ""}`);
}
