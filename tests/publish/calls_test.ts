import assert from "node:assert/strict";
import { Delivery } from "../../src/publish/call.ts";
import { Calls } from "../../src/publish/calls.ts";
import { Tally } from "../../src/publish/tally.ts";
import type { Destination } from "../../src/stream/destination.ts";

/** A call that has sent something; `looks` counts the reads. */
class SentCall extends Delivery {
  static looks = 0;

  constructor(subject: string) {
    super();
    this.destination = { subject } as Destination;
  }

  override get sent(): boolean {
    SentCall.looks++;
    return true;
  }
}

Deno.test("Calls searches a refused subject only up to the first call that was sent to it", () => {
  const calls = new Calls(new Tally(), () => {});
  for (let i = 0; i < 1000; i++) {
    calls.begin({ resource: "r", count: 1, delivery: new SentCall(i < 500 ? "a" : "b") }, undefined, () => {});
  }
  for (let i = 0; i < 100; i++) assert.ok(calls.haveSentTo("a"));
  assert.equal(SentCall.looks, 100);
  assert.ok(calls.haveSentTo("b"));
  assert.ok(!calls.haveSentTo("c"));
});
