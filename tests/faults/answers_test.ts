import type { PublishErrorCode } from "../../mod.ts";
import { type Answer, NO_RESPONDERS, refusal, TOO_MANY_REQUESTS } from "../_support/fake/mod.ts";
import { testFault } from "./_scripted.ts";

/** An odd answer to row 7, the expected error, and the row's outcome. */
type Odd = readonly [
  name: string,
  answer: Answer,
  expected: { code: PublishErrorCode; serverCode?: number; becomes: "rejected" | "unknown" },
];

const foreign = (body: unknown): Answer => ({ body });

const BAD: readonly Odd[] = [
  ["+ACK of a consumer", foreign("+ACK")],
  ["an empty answer", {}],
  ["an empty answer with a status of 100", { status: 100 }],
  ["a number", foreign("7")],
  ["null", foreign("null")],
  ["a list", foreign("[]")],
  ["a truncated document", foreign('{"stream":"ORDERS","se')],
  ["invalid UTF-8", foreign(new Uint8Array([0xff, 0xfe, 0x00]))],
  ["no stream", foreign({ seq: 3 })],
  ["an empty stream", foreign({ stream: "", seq: 3 })],
  ["sequence 0", foreign({ stream: "ORDERS", seq: 0 })],
  ["sequence 0 of a duplicate", foreign({ stream: "ORDERS", seq: 0, duplicate: true })],
  ["a negative sequence", foreign({ stream: "ORDERS", seq: -3 })],
  ["a fractional sequence", foreign({ stream: "ORDERS", seq: 1.5 })],
  ["a sequence in a string", foreign({ stream: "ORDERS", seq: "7" })],
  ["a sequence above 2^53", foreign('{"stream":"ORDERS","seq":9007199254740993}')],
  ["a duplicate mark that is not a boolean", foreign({ stream: "ORDERS", seq: 7, duplicate: "yes" })],
  ["an error without a code", foreign({ error: { description: "no" } })],
  ["an error that is a string", foreign({ error: "no" })],
  ["a document of 20 KiB", foreign({ stream: "ORDERS", seq: 7, pad: "x".repeat(20_000) })],
  ["brackets nested 8,000 deep", foreign("[".repeat(8_000))],
].map(([name, answer]) => [name as string, answer as Answer, { code: "publish.bad_ack", becomes: "unknown" }]);

const ODD: readonly Odd[] = [
  ...BAD,
  ["503", NO_RESPONDERS, { code: "publish.no_responders", serverCode: 503, becomes: "rejected" }],
  ["429", TOO_MANY_REQUESTS, { code: "publish.overloaded", serverCode: 10167, becomes: "rejected" }],
  ["429 without a body", { status: 429 }, { code: "publish.overloaded", serverCode: 429, becomes: "rejected" }],
  ["408 without a body", { status: 408 }, { code: "publish.rejected", serverCode: 408, becomes: "rejected" }],
  ["another stream's acknowledgment", foreign({ stream: "OTHER", seq: 7 }), {
    code: "publish.wrong_stream",
    becomes: "unknown",
  }],
  ["a refusal", refusal(400, 10077, "maximum messages exceeded"), {
    code: "publish.rejected",
    serverCode: 10077,
    becomes: "rejected",
  }],
  ["a refusal without err_code", foreign({ error: { code: 500 } }), {
    code: "publish.rejected",
    serverCode: 500,
    becomes: "rejected",
  }],
  ["an id in process", refusal(409, 10158, "duplicate message id is in process"), {
    code: "publish.rejected",
    serverCode: 10158,
    becomes: "unknown",
  }],
  ["a refusal for the stream", refusal(400, 10060, "expected stream does not match"), {
    code: "publish.wrong_stream",
    serverCode: 10060,
    becomes: "rejected",
  }],
];

for (const [name, answer, { becomes, ...expected }] of ODD) {
  testFault(`fails on ${name}, and reports every row's outcome`, () => ({
    answers: ({ index }, store) => {
      if (index !== 7) return store();
      // A refused row is not stored; a row of unknown outcome may be.
      if (becomes === "unknown") store();
      return answer;
    },
    expected: {
      ...expected,
      row: 7,
      counts: { acked: 19, [becomes]: 1 },
      outcome: becomes === "unknown" ? "uncertain" : "partial",
    },
  }));
}

testFault("fails with the first of several failures, and reports the outcomes of all rows", () => ({
  answers: ({ index }, store) => {
    if (index === 4) return refusal(400, 10054, "message size exceeds maximum allowed");
    if (index === 9) return NO_RESPONDERS;
    if (index === 12) return undefined;
    return store();
  },
  expected: {
    code: "publish.rejected",
    serverCode: 10054,
    row: 4,
    outcome: "uncertain",
    counts: { acked: 17, rejected: 2, unknown: 1 },
  },
}));

testFault("sends nothing after the first failure", () => ({
  options: { maxInFlight: 5 },
  answers: ({ index }, store) => index === 2 ? NO_RESPONDERS : store(),
  expected: {
    code: "publish.no_responders",
    row: 2,
    outcome: "partial",
    counts: { acked: 4, rejected: 1, unsent: 15 },
  },
}));

testFault("accepts neither repeated nor foreign answers for a row", () => ({
  answers: ({ index, reply }, store) => {
    const right = store();
    if (index === 19) return undefined; // never answered: no other answer may count as its own
    const elsewhere = reply.replace(/[0-9]+$/, (token) => String(Number(token) + 1024));
    return [{ ...right, times: 3 }, { ...right, subject: elsewhere }, { ...right, subject: `${reply}x` }, {
      ...right,
      subject: reply.replace(/[0-9]+$/, "-1"),
    }];
  },
  expected: { code: "publish.timeout", row: 19, outcome: "uncertain", counts: { acked: 19, unknown: 1 } },
}));
