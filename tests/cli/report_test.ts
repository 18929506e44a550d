import assert from "node:assert/strict";
import { PublishError, RouteError, type RowOutcome, type RowOutcomes } from "../../src/errors/mod.ts";
import { flagOf } from "../../src/cli/options/option_names.ts";
import { option, words } from "../../src/errors/wording.ts";
import { ProgressLine } from "../../src/cli/publish/progress_line.ts";
import { RunFailure } from "../../src/cli/errors.ts";
import { RowAccount } from "../../src/cli/publish/row_account.ts";
import { endingOf, formatSize } from "../../src/cli/report.ts";
import type { WriteReceipt } from "../../src/types/mod.ts";

function outcomes(counts: Partial<Record<RowOutcome, number>>): RowOutcomes {
  return {
    counts: { acked: 0, duplicate: 0, rejected: 0, unknown: 0, unsent: 0, ...counts },
    at: () => "acked",
    unsettled: () => [],
  };
}

const calm = new AbortController().signal;
const interrupted = AbortSignal.abort(new DOMException("interrupted", "AbortError"));

Deno.test("endingOf() of a failed run states what ended it, then the outcomes of its rows", () => {
  const error = new PublishError("publish.timeout", "Cannot publish: no answer within 5000 ms", {
    outcome: "uncertain",
    rowOutcomes: outcomes({ acked: 1200, unknown: 64 }),
  });
  assert.deepEqual(endingOf(new RunFailure(error, ["1,200 rows acknowledged", "from \u202ea"]), calm), {
    exitCode: 1,
    lines: [
      "jetrow: publish.timeout: Cannot publish: no answer within 5000 ms",
      "jetrow: 1,200 rows acknowledged",
      "jetrow: from \\u202ea",
    ],
  });
});

Deno.test("RowAccount counts every row of a run once, and knows which rows have no printed receipt", () => {
  const account = new RowAccount(10_000);
  assert.deepEqual([account.hasSent, account.line], [false, "no row was published"]);
  account.acknowledge({ rows: 8192 } as WriteReceipt);
  account.print(8192);
  assert.equal(account.line, "8,192 rows acknowledged (all of them in printed receipts), 1,808 not sent");
  account.leave([{ batch: 0, offset: 8192, codes: Uint8Array.of(0, 1, 2, 3, 4), sequences: undefined }]);
  assert.equal(
    account.line,
    "8,194 rows acknowledged (2 of them without a printed receipt), 1 rejected, 1 of unknown fate (sent and not " +
      "answered: they may or may not be stored), 1,804 not sent",
  );
});

Deno.test("endingOf() prints an error on one line without control characters, its code first", () => {
  const message = words`Cannot create S: \x1b[2J\nset ${option("createStream")}`;
  assert.deepEqual(endingOf(new RouteError("route.create", message), calm), {
    exitCode: 1,
    lines: ["jetrow: route.create: Cannot create S: \\u001b[2J\\u000aset --create-stream"],
  });
});

Deno.test("flagOf() returns a flag or a variable for each option", () => {
  const names = [
    "retry.budget",
    "publishTimeout",
    "maxInFlightBytes",
    "tls.handshakeFirst",
    "nkeySeed",
    "ttl",
    "other",
  ];
  assert.deepEqual(names.map(flagOf), [
    "--retry",
    "--publish-timeout",
    "--max-in-flight-bytes",
    "--tls-handshake-first",
    "JETROW_NKEY_SEED",
    "--ttl",
    "other",
  ]);
});

Deno.test("endingOf() of an interrupt exits with 130, and adds details only if there are any", () => {
  const aborted = (counts: Partial<Record<RowOutcome, number>>) =>
    new PublishError("publish.aborted", "Cannot publish: aborted", { outcome: "none", rowOutcomes: outcomes(counts) });
  assert.deepEqual(endingOf(aborted({}), interrupted), { exitCode: 130, lines: ["jetrow: interrupted"] });
  assert.deepEqual(endingOf(interrupted.reason, interrupted), { exitCode: 130, lines: ["jetrow: interrupted"] });
  const other = new PublishError("publish.timeout", "Cannot publish: no answer", {
    outcome: "uncertain",
    rowOutcomes: outcomes({ unknown: 1 }),
  });
  assert.deepEqual(endingOf(other, interrupted).lines[0], "jetrow: publish.timeout: Cannot publish: no answer");
});

Deno.test("ProgressLine shows rows, rate, volume, rows in flight, and the time left", () => {
  let now = 0;
  const written: string[] = [];
  const out = { write: (text: string) => Promise.resolve(void written.push(text)), columns: 120 };
  const line = new ProgressLine(out, "line", 4000, () => now);
  const progress = { submitted: 2024, acked: 1000, bytes: 5_000_000, inFlight: 1024, inFlightBytes: 1 };
  now = 2000;
  line.show(progress);
  assert.equal(written.at(-1), "\r1,000 of 4,000 rows  25%  500 rows/s  2.5 MB/s  1,024 in flight  6s left\x1b[K");
  now = 3000;
  line.show({ ...progress, acked: 3000, bytes: 9_000_000 });
  assert.equal(written.at(-1), "\r3,000 of 4,000 rows  75%  2,000 rows/s  4.0 MB/s  1,024 in flight  1s left\x1b[K");
  line.clear();
  assert.equal(written.at(-1), "\r\x1b[K");
});

Deno.test("ProgressLine fits the window, and shows a rate of 0 during a stall", () => {
  let now = 0;
  const written: string[] = [];
  const out = { write: (text: string) => Promise.resolve(void written.push(text)), columns: 20 };
  const line = new ProgressLine(out, "line", undefined, () => now);
  for (now of [1000, 2000, 6000, 7000]) line.show({ submitted: 5, acked: 5, bytes: 5, inFlight: 0, inFlightBytes: 0 });
  assert.equal(written.at(-1), "\r5 rows  0 rows/s  0\x1b[K");
});

Deno.test("ProgressLine in plain style prints a line every five seconds, without control characters", () => {
  let now = 0;
  const written: string[] = [];
  const line = new ProgressLine({ write: (text) => Promise.resolve(void written.push(text)) }, "plain", 100, () => now);
  for (now = 0; now <= 12_000; now += 100) {
    line.show({ submitted: 50, acked: 50, bytes: 500, inFlight: 0, inFlightBytes: 0 });
  }
  line.clear();
  assert.equal(written.length, 2);
  for (const text of written) assert.match(text, /^50 of 100 rows {2}50% {2}[\w ./]*\n$/);
});

Deno.test("formatSize() does not round a few rows to nothing", () => {
  assert.deepEqual([0, 138, 999_949, 1e6, 12_345_678].map(formatSize), [
    "0.0 kB",
    "0.1 kB",
    "999.9 kB",
    "1.0 MB",
    "12.3 MB",
  ]);
});
