import assert from "node:assert/strict";
import { withLock } from "../_support/lock.ts";
import { GiveUp, until } from "../_support/wait.ts";

Deno.test("withLock() runs one function at a time, and the next one after an error", async () => {
  const folder = await Deno.makeTempDir();
  let inside = 0;
  const work = () =>
    withLock(`${folder}/lock`, async () => {
      assert.equal(++inside, 1);
      await Promise.resolve();
      inside--;
      throw new Error("done");
    });
  await Promise.all(Array.from({ length: 4 }, () => assert.rejects(work(), /done/)));
  assert.deepEqual([...Deno.readDirSync(folder)], []);
  await Deno.remove(folder);
});

Deno.test("until() polls until there is a value, and times out with the last reason", async () => {
  let asked = 0;
  assert.equal(await until("an answer", () => ++asked === 3 && "yes", { every: 1 }), "yes");
  await assert.rejects(
    until("nothing", () => Promise.reject(new Error("no")), { within: 5, every: 1 }),
    (error: Error) => /waited 5 ms for nothing/.test(error.message) && (error.cause as Error).message === "no",
  );
  await assert.rejects(until("nothing", () => Promise.reject(new GiveUp("gone"))), /gone/);
});
