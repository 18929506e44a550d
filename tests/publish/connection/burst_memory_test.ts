import assert from "node:assert/strict";
import { BLOCK, BurstMemory } from "../../../src/publish/connection/burst_memory.ts";

Deno.test("BurstMemory does not reuse a block before its bytes have arrived", async () => {
  const arrived = Promise.withResolvers<void>();
  const memory = new BurstMemory(() => arrived.promise);
  const block = memory.take(1);
  const retired = memory.retire(block);
  assert.notEqual(memory.take(1), block);
  arrived.resolve();
  await retired;
  assert.equal(memory.take(1), block);
  assert.notEqual(memory.take(1), block);
});

Deno.test("BurstMemory does not reuse a block if it is unknown whether its bytes have arrived", async () => {
  const memory = new BurstMemory(() => Promise.reject(new Error("closed")));
  const block = memory.take(1);
  await memory.retire(block);
  assert.notEqual(memory.take(1), block);
});

Deno.test("BurstMemory keeps at most 32 blocks, and none of another size", async () => {
  const memory = new BurstMemory(() => Promise.resolve());
  const large = memory.take(BLOCK + 1);
  assert.equal(large.length, BLOCK + 1);
  const blocks = Array.from({ length: 40 }, () => memory.take(BLOCK));
  await Promise.all([large, ...blocks].map((block) => memory.retire(block)));
  const again = Array.from({ length: 40 }, () => memory.take(BLOCK));
  assert.equal(again.filter((block) => blocks.includes(block)).length, 32);
  assert.equal(new Set(again).size, 40);
});

Deno.test("BurstMemory keeps nothing once it is closed", async () => {
  const memory = new BurstMemory(() => Promise.resolve());
  const [one, two] = [memory.take(1), memory.take(1)];
  await memory.retire(one);
  memory.close();
  await memory.retire(two);
  assert.ok(![one, two].includes(memory.take(1)));
});
