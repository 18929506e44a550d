import assert from "node:assert/strict";
import fc from "fast-check";
import { batchHeaderBytes, batchHeaders, MOST_ROWS_OF_BATCH } from "../../src/message/batch_headers.ts";

Deno.test("batchHeaderBytes() returns the length of what batchHeaders() writes, for every index and both endings", () => {
  const place = fc.nat(MOST_ROWS_OF_BATCH - 1);
  fc.assert(fc.property(fc.stringMatching(/^[A-Z0-9]{22}$/), place, fc.boolean(), (id, index, last) => {
    assert.equal(batchHeaders(id, index, last).length, batchHeaderBytes(index, last));
  }));
});
