import type { PublishErrorCode } from "../../mod.ts";
import { type Answer, NO_RESPONDERS, refusal, TOO_MANY_REQUESTS } from "../_support/fake/mod.ts";
import { testFault } from "./_scripted.ts";

/** One odd answer to row 7: what the error says, and what becomes of the row. */
type Odd = readonly [
  name: string,
  answer: Answer,
  expected: { code: PublishErrorCode; serverCode?: number; fate: "rejected" | "unknown" },
];

const foreign = (body: unknown): Answer => ({ body });

const BAD: readonly Odd[] = [
  ["+ACK of a consumer", foreign("+ACK")],
  ["an empty answer", {}],
  ["an empty answer with a status of 100", { status: 100 }],
  ["a number", foreign("7")],
  ["null", foreign("null")],
  ["a list", foreign("[]")],
  ["a cut document", foreign('{"stream":"ORDERS","se')],
  ["bytes that are no text", foreign(new Uint8Array([0xff, 0xfe, 0x00]))],
  ["no stream", foreign({ seq: 3 })],
  ["an empty stream", foreign({ stream: "", seq: 3 })],
  ["sequence 0", foreign({ stream: "ORDERS", seq: 0 })],
  ["sequence 0 of a duplicate", foreign({ stream: "ORDERS", seq: 0, duplicate: true })],
  ["a negative sequence", foreign({ stream: "ORDERS", seq: -3 })],
  ["a broken sequence", foreign({ stream: "ORDERS", seq: 1.5 })],
  ["a sequence in a text", foreign({ stream: "ORDERS", seq: "7" })],
  ["a sequence above 2^53", foreign('{"stream":"ORDERS","seq":9007199254740993}')],
  ["a mark that is no mark", foreign({ stream: "ORDERS", seq: 7, duplicate: "yes" })],
  ["an error without a code", foreign({ error: { description: "no" } })],
  ["an error that is a text", foreign({ error: "no" })],
  ["a document of 20 KiB", foreign({ stream: "ORDERS", seq: 7, pad: "x".repeat(20_000) })],
  ["brackets nested 8,000 deep", foreign("[".repeat(8_000))],
].map(([name, answer]) => [name as string, answer as Answer, { code: "publish.bad_ack", fate: "unknown" }]);

const ODD: readonly Odd[] = [
  ...BAD,
  ["503", NO_RESPONDERS, { code: "publish.no_responders", serverCode: 503, fate: "rejected" }],
  ["429", TOO_MANY_REQUESTS, { code: "publish.overloaded", serverCode: 10167, fate: "rejected" }],
  ["429 without a body", { status: 429 }, { code: "publish.overloaded", serverCode: 429, fate: "rejected" }],
  ["408 without a body", { status: 408 }, { code: "publish.rejected", serverCode: 408, fate: "rejected" }],
  ["another stream's acknowledgment", foreign({ stream: "OTHER", seq: 7 }), {
    code: "publish.wrong_stream",
    fate: "unknown",
  }],
  ["a refusal", refusal(400, 10077, "maximum messages exceeded"), {
    code: "publish.rejected",
    serverCode: 10077,
    fate: "rejected",
  }],
  ["a refusal without err_code", foreign({ error: { code: 500 } }), {
    code: "publish.rejected",
    serverCode: 500,
    fate: "rejected",
  }],
  ["an id in process", refusal(409, 10158, "duplicate message id is in process"), {
    code: "publish.rejected",
    serverCode: 10158,
    fate: "unknown",
  }],
  ["a refusal for the stream", refusal(400, 10060, "expected stream does not match"), {
    code: "publish.wrong_stream",
    serverCode: 10060,
    fate: "rejected",
  }],
];

for (const [name, answer, { fate, ...expected }] of ODD) {
  testFault(`fails on ${name}, and knows every row's fate`, () => ({
    answers: ({ index }, store) => {
      if (index !== 7) return store();
      // A row that is told to be refused is not stored; of unknown fate it may be.
      if (fate === "unknown") store();
      return answer;
    },
    expected: {
      ...expected,
      row: 7,
      counts: { acked: 19, [fate]: 1 },
      outcome: fate === "unknown" ? "uncertain" : "partial",
    },
  }));
}

testFault("fails by the first of several failures, and tells the others' fates", () => ({
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

testFault("sends nothing more after the first failure", () => ({
  options: { maxInFlight: 5 },
  answers: ({ index }, store) => index === 2 ? NO_RESPONDERS : store(),
  expected: {
    code: "publish.no_responders",
    row: 2,
    outcome: "partial",
    counts: { acked: 4, rejected: 1, unsent: 15 },
  },
}));

testFault("takes neither repeated nor foreign answers for a row's", () => ({
  answers: ({ index, reply }, store) => {
    const right = store();
    if (index === 19) return undefined; // never answered: no other answer may stand for its own
    const elsewhere = reply.replace(/[0-9]+$/, (token) => String(Number(token) + 1024));
    return [{ ...right, times: 3 }, { ...right, subject: elsewhere }, { ...right, subject: `${reply}x` }, {
      ...right,
      subject: reply.replace(/[0-9]+$/, "-1"),
    }];
  },
  expected: { code: "publish.timeout", row: 19, outcome: "uncertain", counts: { acked: 19, unknown: 1 } },
}));
