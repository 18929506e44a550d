import fc from "fast-check";
import assert from "node:assert/strict";
import { constants, zstdCompressSync, type ZstdOptions } from "node:zlib";
import { type Inflate, loadCodec } from "../../../src/arrow/ipc/compression.ts";
import { IpcFault, readError } from "../../../src/arrow/ipc/fault.ts";
import { boundedFrame } from "../../../src/arrow/ipc/zstd_frame.ts";
import { EncodeError } from "../../../src/errors/mod.ts";
import { readBytes } from "../../_support/testdata.ts";
import { concat } from "./_messages.ts";
import { readBodies } from "./_mutations.ts";

const portable: Inflate = await loadCodec("zstd");
const MIB = 1 << 20;

/** Builds a frame from its descriptor, window or content size, and blocks. */
function frame(head: readonly number[], ...blocks: readonly (readonly number[])[]): Uint8Array {
  const last = blocks.length - 1;
  const all = blocks.flatMap(([first, ...rest], index) => [first! | (index === last ? 1 : 0), ...rest]);
  return Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, ...head].concat(all));
}

/** A stored block of one byte, and a block of 128 KiB of one byte. */
const STORED = [1 << 3, 0, 0, 65];
const REPEATED = [2, 0, 0x10, 65];

function compressed(bytes: Uint8Array, level: number, checksum: boolean): Uint8Array {
  const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: checksum ? 1 : 0 };
  return zstdCompressSync(bytes, { params } as ZstdOptions);
}

Deno.test("boundedFrame() keeps the content of a frame, or its beginning", () => {
  const bytes = fc.array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.nat(3000)), { maxLength: 8 });
  fc.assert(fc.property(bytes, fc.constantFrom(1, 3, 19), fc.boolean(), fc.nat(), (parts, level, checksum, part) => {
    const content = concat(...parts.flatMap(([bytes, times]) => new Array<Uint8Array>(times).fill(bytes)));
    const data = compressed(content, level, checksum);
    assert.deepEqual(portable(data, content.length, content.length), content);
    const needed = part % (content.length + 1);
    assert.deepEqual(portable(data, content.length, needed), content.subarray(0, needed));
  }));
});

Deno.test("boundedFrame() makes the window as small as the content", () => {
  const huge = frame([0, 0xa8], STORED);
  assert.equal(boundedFrame(huge, 1, 1)[5], 0);
  assert.deepEqual([...portable(huge, 1, 1)], [65]);
  const long = frame([0, 0xa8], ...new Array<number[]>(64).fill(REPEATED));
  assert.equal(boundedFrame(long, 8 * MIB, 8 * MIB)[5]! >> 3, 13);
  assert.equal(boundedFrame(long, 8 * MIB, 10)[5]! >> 3, 8);
});

Deno.test("boundedFrame() refuses a window that too many blocks would move", () => {
  const many = frame([0, 0xa8], ...new Array<number[]>(100_000).fill(STORED));
  assert.throws(() => boundedFrame(many, 8 * MIB, 8 * MIB), /100000 blocks/);
  assert.equal(portable(frame([0, 0x10], ...new Array<number[]>(1000).fill(STORED)), 1000, 1000).length, 1000);
});

Deno.test("boundedFrame() refuses frames that are truncated, continued, need a dictionary or have another size", () => {
  const whole = frame([0, 0], STORED, STORED);
  assert.equal(portable(whole, 2, 2).length, 2);
  for (let end = 0; end < whole.length; end++) assert.throws(() => boundedFrame(whole.subarray(0, end), 2, 2));
  assert.throws(() => boundedFrame(concat(whole, whole), 4, 4), /something follows/);
  assert.throws(() => boundedFrame(frame([1, 0, 7], STORED), 1, 1), /dictionary/);
  assert.throws(() => boundedFrame(frame([0x20, 9], STORED), 1, 1), /of 9 bytes is announced as 1/);
  assert.throws(() => portable(frame([0x20, 9], STORED), 9, 9), /holds 1 bytes/);
  assert.throws(() => boundedFrame(Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4), 4, 4), /not a ZSTD/);
});

Deno.test("boundedFrame() accepts the Huffman weights of any compressed string", () => {
  const letters = fc.array(fc.nat(255), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(letters, fc.array(fc.nat(), { maxLength: 3000 }), fc.constantFrom(1, 5, 19), (set, picks, level) => {
      const content = Uint8Array.from(picks, (pick) => set[Math.floor((pick % 1000) ** 2 / 1e6 * set.length)]!);
      assert.deepEqual(portable(compressed(content, level, false), content.length, content.length), content);
    }),
  );
});

Deno.test("readArrow() refuses Huffman weights that never end", async () => {
  const ipc = readBytes("reports/zstd_weights.arrow");
  await assert.rejects(readBodies(ipc), { code: "encode.malformed", message: /weights of a ZSTD block/ });
});

Deno.test("loadCodec() says which package to install if the one for ZSTD is missing", async () => {
  const cause = new Error("Cannot find package 'fzstd'");
  await assert.rejects(loadCodec("zstd", undefined, () => Promise.reject(cause)), (error: unknown) => {
    assert.ok(error instanceof IpcFault);
    const read = readError(error);
    assert.ok(read instanceof EncodeError);
    assert.equal(
      read.message,
      "Cannot read Arrow data: the data is compressed with ZSTD, and the package fzstd is missing. " +
        "Run: npm install fzstd",
    );
    assert.deepEqual([read.code, read.cause], ["encode.type", cause]);
    return true;
  });
});
