import assert from "node:assert/strict";
import { files, flipBits, readBodies } from "./_mutations.ts";
import { readBytes } from "../../_support/testdata.ts";

/** A prime, so that over several files every bit of a byte and every byte of a struct is flipped. */
const STEP = 13;
/** Includes the encoder's own memory. */
const LARGEST = 1 << 20;

Deno.test("the small files contain the types, formats and codecs that damage may affect", async () => {
  assert.equal(files.length, 15);
  for (const file of files) assert.ok((await readBodies(readBytes(`ipc/${file}`))).length > 0, file);
});

for (const [index, file] of files.entries()) {
  Deno.test(`readArrow() refuses ${file} or reads all of its rows when one bit is flipped (every ${STEP}th)`, async () => {
    const { read, refused, largest } = await flipBits(file, index % STEP, STEP);
    assert.ok(read > 0 && refused > 0, `${read} read, ${refused} refused`);
    assert.ok(largest <= LARGEST, `an array of ${largest} bytes was allocated`);
  });
}
