/** Checks that need no connection: encoding, ids, errors. */

import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import type { ArrowRows } from "../../src/types/mod.ts";
import { equal, equalBytes, ok, rejection } from "./assert.ts";
import { fromBase64, type GoldenFile, type Library, type Stage } from "./context.ts";

/** The rows of every Arrow type, to the byte, read by apache-arrow and by flechette; and invalid rows. */
export function golden({ library, fixtures }: Stage): void {
  let compared = 0;
  for (const file of fixtures.golden) {
    const ipc = fromBase64(file.ipc);
    compared += compare(library, file, arrow.tableFromIPC(ipc));
    const other = file.misread ? undefined : readFlechette(ipc);
    if (other !== undefined) compared += compare(library, file, other);
  }
  ok(compared > 1.8 * fixtures.golden.length, `only ${compared} comparisons of ${fixtures.golden.length} files`);
}

function compare(library: Library, { name, lines }: GoldenFile, rows: ArrowRows): number {
  if (lines === undefined) {
    const error = thrown(() => library.encodeRows(rows));
    ok(library.isJetrowError(error) && error.name === "EncodeError", `${name} is not refused: ${error}`);
    return 1;
  }
  const { bytes, offsets, crc32c } = library.encodeRows(rows);
  const expected = fromBase64(lines);
  // The bodies are adjacent; in the file each is followed by a line feed.
  const written = new Uint8Array(bytes.length + offsets.length - 1).fill(0x0a);
  for (let row = 0; row + 1 < offsets.length; row++) {
    written.set(bytes.subarray(offsets[row], offsets[row + 1]), offsets[row]! + row);
  }
  equalBytes(written, expected, name);
  equal(crc32c, library.crc32c(bytes), `${name}: crc32c`);
  return 1;
}

/** Reads rows with flechette; undefined if it cannot read them, though apache-arrow can. */
function readFlechette(ipc: Uint8Array): ArrowRows | undefined {
  try {
    const table = flechette.tableFromIPC(ipc, { useBigInt: true, useDecimalInt: true });
    return table.children.length === 0 ? undefined : table;
  } catch {
    return undefined;
  }
}

function thrown(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

/** The ids of the vectors, and the checksum's check value. */
export function ids({ library, fixtures }: Stage): void {
  for (const { eventId, identity, id, ...scope } of fixtures.ids) {
    equal(library.messageIdentity(scope, eventId), identity, "messageIdentity");
    equal(library.messageId(scope, eventId), id, "messageId");
  }
  ok(fixtures.ids.length > 5, "the vectors are missing");
  // The check value of CRC-32/ISCSI in the catalogue of parametrised CRC algorithms.
  equal(library.crc32c(new TextEncoder().encode("123456789")), 0xe3069283, "crc32c");
}

/** Errors are recognized by name and code on every runtime; an invalid configuration is refused before dialling. */
export async function errors({ library, connect, env }: Stage): Promise<void> {
  const refused = await rejection(connect({ url: env.deadUrl, stream: "S", subject: "s" }), "a dead port");
  ok(library.isJetrowError(refused), String(refused));
  equal([refused.name, refused.code], ["ConnectionError", "connection.refused"], refused.message);
  const wrong = await rejection(
    library.openRun(() => Promise.reject(new Error("dialled")), {
      stream: "S",
      subject: "s",
      maxInFlight: 0,
    }),
    "maxInFlight 0",
  );
  ok(library.isJetrowError(wrong), String(wrong));
  equal([wrong.name, wrong.code], ["ConfigError", "config.range"], wrong.message);
}
