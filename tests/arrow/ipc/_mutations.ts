/** Damages small Arrow files bit by bit, and reads them while watching the allocations. */

import assert from "node:assert/strict";
import { readArrow } from "../../../src/arrow/mod.ts";
import { isJetrowError } from "../../../src/errors/mod.ts";
import { encodeRows } from "../../../src/json/encode.ts";
import { listFiles, readBytes } from "../../_support/testdata.ts";

/** The files of tests/_testdata/ipc. */
export const files: readonly string[] = listFiles("ipc").filter((name) => /\.arrows?$/.test(name));

/** Reads and encodes all rows; returns the JSON of each row. */
export async function readBodies(ipc: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const decoder = new TextDecoder();
  const bodies: string[] = [];
  for await (const rows of readArrow(ipc)) {
    const { bytes, offsets } = encodeRows(rows);
    assert.equal(offsets.length, rows.numRows + 1);
    for (let row = 0; row < rows.numRows; row++) {
      bodies.push(decoder.decode(bytes.subarray(offsets[row], offsets[row + 1])));
    }
  }
  return bodies;
}

/** What reading the damaged copies of a file led to. */
export interface Tally {
  readonly read: number;
  readonly refused: number;
  /** The largest array that was allocated, in bytes. */
  readonly largest: number;
}

/**
 * Flips one bit at a time, every `step`th from `first` on, and reads the result. Each copy must have as many rows as the
 * original file, or be refused with an EncodeError that has a code.
 */
export async function flipBits(file: string, first: number, step: number): Promise<Tally> {
  const ipc = readBytes(`ipc/${file}`);
  const rows = (await readBodies(ipc)).length;
  const watch = watchArrays();
  const tally = { read: 0, refused: 0 };
  try {
    for (let bit = first; bit < 8 * ipc.length; bit += step) {
      const damaged = ipc.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const outcome = await outcomeOf(damaged);
      const where = `${file}, bit ${bit & 7} of byte ${bit >> 3}`;
      if (typeof outcome === "number") {
        assert.equal(outcome, rows, where);
        tally.read++;
      } else {
        assert.ok(isJetrowError(outcome) && outcome.name === "EncodeError", `${where}: ${outcome}`);
        tally.refused++;
      }
    }
  } finally {
    watch.end();
  }
  return { ...tally, largest: watch.largest() };
}

/** Reads a file: returns the number of its rows, or what was thrown. */
async function outcomeOf(ipc: Uint8Array<ArrayBuffer>): Promise<unknown> {
  try {
    return (await readBodies(ipc)).length;
  } catch (error) {
    return error;
  }
}

/** Records the size of typed arrays and buffers that are created by length until `end()`. */
export function watchArrays(): { largest(): number; end(): void } {
  const names = ["Uint8Array", "Int32Array", "Uint32Array", "Float64Array", "BigInt64Array"] as const;
  const kept = names.map((name) => [name, globalThis[name]] as const);
  let largest = 0;
  for (const [name, constructor] of kept) {
    const watched = new Proxy(constructor, {
      construct(target, args, newTarget): object {
        const made = Reflect.construct(target, args, newTarget) as Uint8Array;
        if (typeof args[0] === "number") largest = Math.max(largest, made.byteLength);
        return made;
      },
    });
    Reflect.set(globalThis, name, watched);
  }
  return {
    largest: () => largest,
    end: () => kept.forEach(([name, constructor]) => Reflect.set(globalThis, name, constructor)),
  };
}
