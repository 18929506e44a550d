import assert from "node:assert/strict";
import { compareVersions, olderThan } from "../_support/nats/mod.ts";

Deno.test("compareVersions() compares numbers, not strings", () => {
  for (
    const [older, newer] of [["2.9.10", "2.10.0"], ["2.9.10", "2.15.2"], ["2.11.9", "2.11.10"], [
      "2.9",
      "2.9.1",
    ]] as const
  ) {
    assert(compareVersions(older, newer) < 0 && compareVersions(newer, older) > 0, `${older} ${newer}`);
  }
  assert.equal(compareVersions("2.15.0-dev", "2.15.0"), 0);
});

Deno.test("olderThan() returns whether a test must be skipped", () => {
  assert.equal(olderThan("2.14.0", { version: "2.9.10" }, "an example of a test left out"), true);
  assert.equal(olderThan("2.14.0", { version: "2.14.0" }, "this"), false);
});
