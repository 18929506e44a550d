/**
 * The headers of an atomic batch (ADR-50): the batch's id, the row's position in it, and the commit on the last row.
 *
 * @module
 */

/** Length of a batch id: one of the client's unique ids. Servers take up to 64 bytes. */
export const BATCH_ID_BYTES = 22;

/** The largest number of rows of a batch: the default of servers, which do not report another setting. */
export const MOST_ROWS_OF_BATCH = 1000;

const ID = "Nats-Batch-Id: ";
const SEQUENCE = "Nats-Batch-Sequence: ";
const COMMIT = "Nats-Batch-Commit: 1\r\n";

const utf8 = new TextEncoder();

/** Returns the bytes of a row's batch headers, which the server stores with the row. */
export function batchHeaderBytes(index: number, last: boolean): number {
  const digits = String(index + 1).length;
  return ID.length + BATCH_ID_BYTES + SEQUENCE.length + digits + 4 + (last ? COMMIT.length : 0);
}

/** Returns the batch header lines of a row, for the end of its header block. Those of the last row commit the batch. */
export function batchHeaders(id: string, index: number, last: boolean): Uint8Array {
  return utf8.encode(`${ID}${id}\r\n${SEQUENCE}${index + 1}\r\n${last ? COMMIT : ""}`);
}
