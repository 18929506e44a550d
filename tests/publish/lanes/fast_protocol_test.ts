import assert from "node:assert/strict";
import fc from "fast-check";
import {
  FAST_REPLY_BYTES,
  type FastAnswer,
  parseFast,
  parseReply,
  replyForms,
} from "../../../src/publish/lanes/fast_protocol.ts";

const utf8 = new TextEncoder();
const SOURCE = { stream: "ORDERS", domain: "hub" };

function read(body: unknown, status = 0): FastAnswer {
  const bytes = body instanceof Uint8Array ? body : utf8.encode(typeof body === "string" ? body : JSON.stringify(body));
  return parseFast(bytes, status, SOURCE, "b1");
}

Deno.test("parseReply() reads what replyForms() writes, and nothing else", () => {
  const text = new TextDecoder();
  const token = fc.stringMatching(/^[A-Za-z0-9]{1,12}$/);
  const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(token, fc.integer({ min: 1, max: 65_535 }), sequence, fc.nat(4), (id, flow, sequence, operation) => {
      const { before, after } = replyForms("_INBOX.x.", id, flow)[operation]!;
      const subject = text.decode(before) + sequence + text.decode(after);
      assert.deepEqual(parseReply(subject, "_INBOX.x.".length), { id, sequence, operation });
      assert.ok(subject.length - "_INBOX.x.".length <= FAST_REPLY_BYTES);
    }),
  );
  for (
    const tail of [
      "1",
      "b1.5.fail.1.0",
      "b1.5.ok.1.0.$FI",
      "b1.5.fail.1.5.$FI",
      "b1.5.fail.x.1.$FI",
      "a.b1.5.fail.1.1.$FI",
      "",
    ]
  ) {
    assert.equal(parseReply(`_INBOX.x.${tail}`, 9), undefined, tail);
  }
});

Deno.test("parseFast() reads every form that a server sends", () => {
  assert.deepEqual(read({ type: "ack", seq: 0, msgs: 500 }), { kind: "flow", sequence: 0, perAck: 500 });
  assert.deepEqual(read({ type: "gap", last_seq: 4, seq: 3 }), { kind: "gap" });
  const error = { code: 400, err_code: 10060, description: "expected stream does not match" };
  const refused = read({ type: "err", seq: 3, error });
  assert.ok(refused.kind === "row_refused" && refused.sequence === 3 && refused.refusal.code === 10060);
  const end = { stream: "ORDERS", domain: "hub", seq: 12, batch: "b1", count: 5 };
  assert.deepEqual(read(end), { kind: "ended", count: 5, lastSequence: 12 });
  assert.deepEqual(read({ ...end, seq: 0 }), { kind: "ended", count: 5, lastSequence: 0 });
  assert.deepEqual(read({ ...end, duplicate: true }), { kind: "ended", count: 5, lastSequence: 0 });
  const untyped = read({ error: { code: 400, err_code: 10208, description: "unknown" }, stream: "ORDERS", seq: 0 });
  assert.ok(untyped.kind === "refused" && untyped.code === 10208);
  const noResponders = read(new Uint8Array(0), 503);
  assert.ok(noResponders.kind === "refused" && noResponders.code === 503);
  const full = read({ error: { code: 429, err_code: 10167, description: "too many requests" } }, 429);
  assert.ok(full.kind === "refused" && full.code === 10167);
});

Deno.test("parseFast() does not accept the acknowledgment of one row, or of another batch, stream or domain", () => {
  const end = { stream: "ORDERS", domain: "hub", seq: 12, batch: "b1", count: 5 };
  for (
    const body of [
      { ...end, batch: undefined },
      { ...end, batch: "b2" },
      { ...end, count: undefined },
      { ...end, count: -1 },
      { ...end, count: 1.5 },
      { ...end, seq: -1 },
      { ...end, seq: undefined },
      { type: "ack", seq: 1 },
      { type: "ack", seq: 1, msgs: 0 },
      { type: "ack", seq: -1, msgs: 5 },
      { type: "ack", seq: "1", msgs: 5 },
      { type: "err", seq: 0, error: { code: 400, err_code: 1 } },
      { type: "err", seq: 1 },
      { type: 7 },
      [],
      "",
      "+ACK",
    ]
  ) {
    assert.equal(read(body).kind, "bad", JSON.stringify(body));
  }
  for (const other of [{ stream: "OTHER" }, { domain: "leaf" }, { domain: undefined }]) {
    assert.equal(read({ ...end, ...other }).kind, "wrong_stream", JSON.stringify(other));
  }
});

Deno.test("parseFast() throws on no body", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.json().map((text) => utf8.encode(text)),
      ),
      fc.nat(600),
      (body, status) => {
        assert.ok(parseFast(body, status, SOURCE, "b1").kind);
      },
    ),
  );
});
