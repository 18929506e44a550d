import assert from "node:assert/strict";
import { files, flipBits } from "./_mutations.ts";

for (const file of files) {
  Deno.test(`readArrow() refuses ${file} or reads all of its rows when any single bit is flipped`, async () => {
    const { read, refused, largest } = await flipBits(file, 0, 1);
    assert.ok(read > 0 && refused > 0, `${read} read, ${refused} refused`);
    assert.ok(largest <= 1 << 20, `an array of ${largest} bytes was allocated`);
  });
}
