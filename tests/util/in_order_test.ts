import assert from "node:assert/strict";
import { deferred } from "../../src/util/deferred.ts";
import { inOrder } from "../../src/util/in_order.ts";

Deno.test("inOrder() yields results in the items' order when the work ends in another order", async () => {
  const works = [1, 2, 3, 4].map(() => deferred<string>());
  const results: string[] = [];
  const reading = (async () => {
    for await (const result of inOrder([0, 1, 2, 3], 4, (i) => works[i]!.promise)) results.push(result);
  })();
  for (const i of [3, 1, 0, 2]) works[i]!.resolve(`r${i}`);
  await reading;
  assert.deepEqual(results, ["r0", "r1", "r2", "r3"]);
});

Deno.test("inOrder() works on at most `ahead` items at a time", async () => {
  let now = 0;
  let most = 0;
  const work = async (i: number) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now--;
    return i;
  };
  const results: number[] = [];
  for await (const i of inOrder(Array.from({ length: 50 }, (_, i) => i), 7, work)) results.push(i);
  assert.equal(results.length, 50);
  assert.ok(most <= 7 && most > 1, `${most}`);
});

Deno.test("inOrder() takes no further item after a failure, and leaves no unhandled rejection", async () => {
  let begun = 0;
  const work = (i: number) => {
    begun++;
    return i === 2 || i === 4 ? Promise.reject(new Error(`item ${i}`)) : Promise.resolve(i);
  };
  const results: number[] = [];
  await assert.rejects(async () => {
    for await (const i of inOrder(Array.from({ length: 100 }, (_, i) => i), 3, work)) results.push(i);
  }, { message: "item 2" });
  assert.deepEqual(results, [0, 1]);
  assert.equal(begun, 5);
});
