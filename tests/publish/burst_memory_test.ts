import assert from "node:assert/strict";
import { BurstMemory, PIECE } from "../../src/publish/burst_memory.ts";

Deno.test("BurstMemory gives no piece out again before what was sent from it has arrived", async () => {
  const arrived = Promise.withResolvers<void>();
  const memory = new BurstMemory(() => arrived.promise);
  const piece = memory.take(1);
  const retired = memory.retire(piece);
  assert.notEqual(memory.take(1), piece);
  arrived.resolve();
  await retired;
  assert.equal(memory.take(1), piece);
  assert.notEqual(memory.take(1), piece);
});

Deno.test("BurstMemory gives no piece out again of which it is not known whether it has arrived", async () => {
  const memory = new BurstMemory(() => Promise.reject(new Error("closed")));
  const piece = memory.take(1);
  await memory.retire(piece);
  assert.notEqual(memory.take(1), piece);
});

Deno.test("BurstMemory keeps 32 pieces at most, and none of another size", async () => {
  const memory = new BurstMemory(() => Promise.resolve());
  const large = memory.take(PIECE + 1);
  assert.equal(large.length, PIECE + 1);
  const pieces = Array.from({ length: 40 }, () => memory.take(PIECE));
  await Promise.all([large, ...pieces].map((piece) => memory.retire(piece)));
  const again = Array.from({ length: 40 }, () => memory.take(PIECE));
  assert.equal(again.filter((piece) => pieces.includes(piece)).length, 32);
  assert.equal(new Set(again).size, 40);
});
