import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAck } from "../../src/publish/ack.ts";
import { usualAckReader } from "../../src/stream/ack.ts";

const utf8 = new TextEncoder();
const source = { stream: "ORDERS" };
const inDomain = { stream: "ORDERS", domain: "hub" };

function parse(body: string, status = 0, from: { stream: string; domain?: string } = source) {
  return parseAck(utf8.encode(body), status, from);
}

Deno.test("parseAck() reads servers' answers to a stored message", () => {
  assert.deepEqual(parse('{"stream":"ORDERS","seq":7}'), { kind: "stored", sequence: 7, duplicate: false });
  assert.deepEqual(parse('{"stream":"ORDERS", "seq":7}'), { kind: "stored", sequence: 7, duplicate: false });
  assert.deepEqual(parse('{"stream":"ORDERS","seq":7,"duplicate": true}'), {
    kind: "stored",
    sequence: 7,
    duplicate: true,
  });
  assert.deepEqual(parse('{"stream":"ORDERS","domain":"hub","seq":9}', 0, inDomain), {
    kind: "stored",
    sequence: 9,
    duplicate: false,
  });
  assert.deepEqual(parse('{"stream":"ORDERS","domain":"hub","seq":9}'), {
    kind: "stored",
    sequence: 9,
    duplicate: false,
  });
});

Deno.test("parseAck() recognizes the acknowledgment of another stream or domain", () => {
  assert.deepEqual(parse('{"stream":"OTHER","seq":7}'), { kind: "wrong_stream", stream: "OTHER", domain: undefined });
  assert.equal(parse('{"stream":"ORDERS","domain":"leaf","seq":7}', 0, inDomain).kind, "wrong_stream");
  assert.equal(parse('{"stream":"ORDERS","seq":7}', 0, inDomain).kind, "wrong_stream");
});

Deno.test("parseAck() prefers err_code to code, and code to the status", () => {
  const refused = (body: string, status = 0) => {
    const ack = parse(body, status);
    assert.equal(ack.kind, "refused");
    return ack.kind === "refused" ? ack.code : 0;
  };
  assert.equal(
    refused('{"error":{"code":503,"err_code":10077,"description":"full"},"stream":"ORDERS","seq":0}'),
    10077,
  );
  assert.equal(refused('{"error":{"code":503,"description":"x"}}'), 503);
  assert.equal(
    refused('{"error":{"code":429,"err_code":10167,"description":"too many requests"},"seq":0}', 429),
    10167,
  );
  assert.equal(refused("", 503), 503);
  assert.equal(refused("", 429), 429);
  assert.equal(refused("busy", 429), 429);
});

Deno.test("parseAck() returns malformed for any other answer", () => {
  const bad = [
    "",
    "+ACK",
    "null",
    "[]",
    '"ORDERS"',
    "{",
    '{"seq":7}',
    '{"stream":"","seq":7}',
    '{"stream":7,"seq":7}',
    '{"stream":"ORDERS"}',
    '{"stream":"ORDERS","seq":0}',
    '{"stream":"ORDERS","seq":0,"duplicate":true}',
    '{"stream":"ORDERS","seq":-1}',
    '{"stream":"ORDERS","seq":1.5}',
    '{"stream":"ORDERS","seq":"7"}',
    '{"stream":"ORDERS","seq":9007199254740993}',
    '{"stream":"ORDERS","seq":7,"duplicate":"yes"}',
    '{"stream":"ORDERS","domain":7,"seq":7}',
    '{"error":"no"}',
    '{"error":{}}',
    '\ufeff{"stream":"ORDERS","seq":7}',
    "[".repeat(10_000),
    `{"stream":"ORDERS","seq":7,"x":"${"x".repeat(20_000)}"}`,
  ];
  for (const body of bad) assert.equal(parse(body).kind, "bad", body.slice(0, 60));
  const notUtf8 = utf8.encode('{"stream":"ORDERS","seq":7,"x":"?"}').map((byte) => byte === 0x3f ? 0xff : byte);
  assert.equal(parseAck(notUtf8, 0, source).kind, "bad");
});

Deno.test("parseAck() and usualAckReader() agree on any acknowledgment", () => {
  fc.assert(fc.property(
    fc.constantFrom(source, inDomain, { stream: "A-b_9" }),
    fc.constantFrom("ORDERS", "OTHER", "ORDER", "ORDERSX", "A-b_9"),
    fc.constantFrom(undefined, "hub", "leaf", ""),
    fc.oneof(
      fc.constantFrom("0", "01", "1e3", "9007199254740991", "9007199254740993", "-4", "1.5", ""),
      fc.nat().map(String),
    ),
    fc.constantFrom("}", ',"duplicate": true}', ',"duplicate":true}', ',"duplicate":false}', ',"x":1}', "", "}}"),
    fc.constantFrom(",", ", "),
    (from, stream, domain, seq, end, comma) => {
      const middle = domain === undefined ? "" : `"domain":"${domain}"${comma}`;
      const body = utf8.encode(`{"stream":"${stream}"${comma}${middle}"seq":${seq}${end}`);
      const quick = usualAckReader(from)(body, 0, body.length);
      const within = Uint8Array.of(1, ...body, 2);
      assert.equal(usualAckReader(from)(within, 1, 1 + body.length), quick);
      const ack = parseAck(body, 0, from);
      if (quick === 0) return;
      assert.deepEqual(ack, { kind: "stored", sequence: Math.abs(quick), duplicate: quick < 0 });
    },
  ));
});

Deno.test("usualAckReader() reads the forms of all servers without the parser", () => {
  const read = (body: string, from = source) => {
    const bytes = utf8.encode(body);
    return usualAckReader(from)(bytes, 0, bytes.length);
  };
  assert.equal(read('{"stream":"ORDERS","seq":7}'), 7);
  assert.equal(read('{"stream":"ORDERS", "seq":123456}'), 123456);
  assert.equal(read('{"stream":"ORDERS","seq":7,"duplicate": true}'), -7);
  assert.equal(read('{"stream":"ORDERS","domain":"hub","seq":7}', inDomain), 7);
});
