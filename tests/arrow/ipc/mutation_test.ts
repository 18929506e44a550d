import assert from "node:assert/strict";
import { files, flipBits, readTexts } from "./_mutations.ts";
import { readBytes } from "../../_support/testdata.ts";

/** A prime: over some files every bit of a byte, every byte of a struct gets its turn. */
const STEP = 13;
/** The encoder's own memory included. */
const LARGEST = 1 << 20;

Deno.test("the small files hold the types, formats and codecs that damage may hit", async () => {
  assert.equal(files.length, 15);
  for (const file of files) assert.ok((await readTexts(readBytes(`ipc/${file}`))).length > 0, file);
});

for (const [index, file] of files.entries()) {
  Deno.test(`readArrow() refuses ${file} or gives all of its rows when any bit is flipped`, async () => {
    const { read, refused, largest } = await flipBits(file, index % STEP, STEP);
    assert.ok(read > 0 && refused > 0, `${read} read, ${refused} refused`);
    assert.ok(largest <= LARGEST, `an array of ${largest} bytes was made`);
  });
}
