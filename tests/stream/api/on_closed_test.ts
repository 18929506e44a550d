import assert from "node:assert/strict";
import { onClosed } from "../../../src/stream/api/on_closed.ts";
import { fakeConnection } from "../../_support/fake/mod.ts";

Deno.test("onClosed() calls each callback once, also one added after the end, and none that was removed", async () => {
  const fake = fakeConnection();
  const calls: unknown[] = [];
  const note = (reason: unknown): void => void calls.push(reason);
  const left = onClosed(fake.nc, () => note("left"));
  onClosed(fake.nc, note);
  left();
  const reason = new Error("gone");
  fake.lose(reason);
  await fake.nc.closed();
  await Promise.resolve();
  assert.deepEqual([...calls], [reason]);
  onClosed(fake.nc, note);
  onClosed(fake.nc, () => note("left"))();
  assert.deepEqual([...calls], [reason]);
  await Promise.resolve();
  assert.deepEqual(calls, [reason, reason]);
});
