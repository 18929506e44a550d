import assert from "node:assert/strict";
import { type Verdict, verdictOf } from "../../src/publish/rejection.ts";

const TABLE: readonly (readonly [name: string, codes: readonly number[], verdict: Verdict])[] = [
  ["no responders", [503], { code: "publish.no_responders", stored: "no", retry: "pause" }],
  ["too many requests, too many batches", [429, 10167, 10210, 10211], {
    code: "publish.overloaded",
    stored: "no",
    retry: "pause",
  }],
  ["an id in process", [10158], { code: "publish.rejected", stored: "unknown", retry: "later" }],
  ["insufficient resources, full, account full", [10023, 10077, 10002], {
    code: "publish.rejected",
    stored: "no",
    retry: "pause",
  }],
  ["no leader, sequences out of step", [10008, 10009, 10063], {
    code: "publish.rejected",
    stored: "no",
    retry: "pause",
  }],
  ["a batch that the server does not have, or not all of", [10176, 10208], {
    code: "publish.rejected",
    stored: "no",
    retry: "pause",
  }],
  ["another stream", [10060], { code: "publish.wrong_stream", stored: "no", retry: "never" }],
  [
    "errors that no retry can fix",
    [
      10109,
      10054,
      10097,
      10166,
      10165,
      10111,
      10169,
      10174,
      10175,
      10177,
      10178,
      10179,
      10199,
      10200,
      10201,
      10205,
    ]
      .concat([10206, 10207, 10209, 10071, 10164, 400]),
    { code: "publish.rejected", stored: "no", retry: "never" },
  ],
];

for (const [name, codes, verdict] of TABLE) {
  Deno.test(`verdictOf() classifies ${name} (${codes.join(", ")})`, () => {
    for (const code of codes) assert.deepEqual(verdictOf(code), verdict, String(code));
  });
}
