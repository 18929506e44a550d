import assert from "node:assert/strict";
import { parseCommit, parseStage } from "../../../src/publish/lanes/atomic_answer.ts";

const SOURCE = { stream: "ORDERS" };
const bytes = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body));

Deno.test("parseCommit() accepts only an answer for the whole batch", () => {
  const good = { stream: "ORDERS", seq: 12, batch: "b1", count: 5 };
  assert.deepEqual(parseCommit(bytes(good), 0, SOURCE, "b1", 5), { kind: "stored", first: 8 });
  assert.deepEqual(parseCommit(bytes({ ...good, seq: 5 }), 0, SOURCE, "b1", 5), { kind: "stored", first: 1 });
  for (
    const bad of [{ batch: "b2" }, { batch: undefined }, { count: 4 }, { count: 6 }, { seq: 4 }, { duplicate: true }]
  ) {
    assert.equal(parseCommit(bytes({ ...good, ...bad }), 0, SOURCE, "b1", 5).kind, "bad", JSON.stringify(bad));
  }
  assert.equal(parseCommit(bytes({ ...good, stream: "OTHER" }), 0, SOURCE, "b1", 5).kind, "wrong_stream");
  const refusal = parseCommit(bytes({ error: { code: 400, err_code: 10201, description: "no" } }), 0, SOURCE, "b1", 5);
  assert.ok(refusal.kind === "refused" && refusal.code === 10201);
});

Deno.test("parseStage() reads an empty body as staged, and an acknowledgment as a server without batches", () => {
  assert.equal(parseStage(new Uint8Array(0), 0, SOURCE).kind, "staged");
  assert.equal(parseStage(bytes({ stream: "ORDERS", seq: 1 }), 0, SOURCE).kind, "bad");
  const noResponders = parseStage(new Uint8Array(0), 503, SOURCE);
  assert.ok(noResponders.kind === "refused" && noResponders.code === 503);
});
