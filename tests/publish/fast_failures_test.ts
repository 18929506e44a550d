import assert from "node:assert/strict";
import { openRun, type PublishError, type PublishErrorCode } from "../../mod.ts";
import { failureOf } from "../_support/failed_publish.ts";
import { idBatch, sizedBatch } from "../_support/arrow/mod.ts";
import { type Answer, NO_RESPONDERS, refusal, TOO_MANY_REQUESTS } from "../_support/fake/mod.ts";
import { opener, publishFails, turn } from "./_batches.ts";
import { endAck, fastServer, flowAck, operationsOf, UNKNOWN_BATCH } from "./_fast_server.ts";
import { onVirtualClock } from "../_support/clock.ts";

const open = opener("fast");

Deno.test(
  "neither ping nor end is sent before a batch's first answer",
  onVirtualClock(async () => {
    const fake = fastServer(() => []);
    await using publisher = await open(fake, { publishTimeout: 60 });
    await publishFails(publisher, idBatch(5), {
      code: "publish.timeout",
      outcome: "uncertain",
      counts: { unknown: 1, unsent: 4 },
    });
    assert.equal(operationsOf(fake), "start 1");
  }),
);

Deno.test(
  "a server that stores the first row without a batch is sent no further row",
  onVirtualClock(async () => {
    const fake = fastServer(({ sequence }) => ({ body: { stream: "ORDERS", seq: sequence } }));
    await using publisher = await open(fake);
    await publishFails(publisher, idBatch(5), {
      code: "publish.bad_ack",
      outcome: "uncertain",
      counts: { unknown: 1, unsent: 4 },
    });
    assert.equal(operationsOf(fake), "start 1");
  }),
);

Deno.test(
  "a row that the server refuses ends the batch: earlier rows are stored, later ones are not",
  onVirtualClock(async () => {
    let ended = false;
    const fake = fastServer(({ id, sequence, operation }) => {
      if (ended) return UNKNOWN_BATCH;
      if (sequence !== 3 || operation === "ping") return undefined;
      ended = true;
      const error = { code: 400, err_code: 10060, description: "expected stream does not match" };
      return [{ body: { type: "err", seq: 3, error } }, endAck(id, 2)];
    });
    await using publisher = await open(fake);
    const error = await publishFails(publisher, idBatch(6), {
      code: "publish.wrong_stream",
      serverCode: 10060,
      row: 2,
      outcome: "partial",
      counts: { acked: 2, rejected: 4 },
    });
    assert.deepEqual(error.rowOutcomes.unsettled(), [2, 3, 4, 5]);
  }),
);

const FIRST_ROW: readonly (readonly [Answer, number, PublishErrorCode])[] = [
  ...[10002, 10023, 10054, 10109, 10185, 10205, 10206, 10207, 10208].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  [refusal(429, 10211, "too many"), 10211, "publish.overloaded"],
  [TOO_MANY_REQUESTS, 10167, "publish.overloaded"],
  [NO_RESPONDERS, 503, "publish.no_responders"],
];

for (const [answer, serverCode, code] of FIRST_ROW) {
  Deno.test(
    `a first row refused with ${serverCode} is rejected, and no further row is sent: ${code}`,
    onVirtualClock(async () => {
      for (const rows of [idBatch(5), idBatch(1)]) {
        const fake = fastServer(() => answer);
        await using publisher = await open(fake);
        await publishFails(publisher, rows, {
          code,
          serverCode,
          row: 0,
          outcome: "partial",
          counts: { rejected: 1, unsent: rows.numRows - 1 },
        });
        assert.equal(fake.published.length, 1);
      }
    }),
  );
}

Deno.test(
  "a first row refused after its first answer leaves nothing stored",
  onVirtualClock(async () => {
    const fake = fastServer(({ operation, flow }) =>
      operation === "start" ? [flowAck(0, flow), refusal(400, 10060, "expected stream does not match")] : UNKNOWN_BATCH
    );
    await using publisher = await open(fake);
    const counts = { acked: 0, duplicate: 0, unknown: 0 };
    await publishFails(publisher, idBatch(5), { code: "publish.wrong_stream", row: 0, counts });
  }),
);

for (
  const [code, serverCode, answer] of [
    ["publish.no_responders", 503, NO_RESPONDERS],
    ["publish.overloaded", 10167, TOO_MANY_REQUESTS],
  ] as const
) {
  Deno.test(
    `a row refused with ${serverCode} is rejected, and the batch's end reports the other rows`,
    onVirtualClock(async () => {
      const fake = fastServer(({ sequence, operation }) =>
        sequence === 4 && operation === "append" ? answer : undefined
      );
      await using publisher = await open(fake);
      const counts = { acked: 3, rejected: 3 };
      await publishFails(publisher, idBatch(6), { code, serverCode, row: 3, outcome: "partial", counts });
    }),
  );
}

Deno.test(
  "a last row without responders is rejected, and the batch is ended by a further message",
  onVirtualClock(async () => {
    const fake = fastServer(({ operation }) => operation === "commit" ? NO_RESPONDERS : undefined);
    await using publisher = await open(fake);
    await publishFails(publisher, idBatch(6), {
      code: "publish.no_responders",
      row: 5,
      outcome: "partial",
      counts: { acked: 5, rejected: 1 },
    });
    assert.match(operationsOf(fake), /end 7$/);
  }),
);

Deno.test(
  "a lost last answer leaves rows without acknowledgment unknown",
  onVirtualClock(async () => {
    let over = false;
    const fake = fastServer(({ operation }) => {
      if (over) return UNKNOWN_BATCH;
      if (operation !== "commit") return undefined;
      over = true;
      return [];
    });
    await using publisher = await open(fake, { maxInFlight: 8, publishTimeout: 600 });
    await publishFails(publisher, idBatch(7), {
      code: "publish.rejected",
      serverCode: 10208,
      outcome: "uncertain",
      counts: { acked: 6, unknown: 1 },
    });
  }),
);

Deno.test(
  "a batch without further answers fails with a timeout",
  onVirtualClock(async () => {
    const fake = fastServer(({ sequence }) => sequence > 4 ? [] : undefined);
    await using publisher = await open(fake, { maxInFlight: 8, publishTimeout: 90 });
    await publishFails(publisher, idBatch(7), {
      code: "publish.timeout",
      outcome: "uncertain",
      counts: { acked: 4, unknown: 3 },
    });
  }),
);

const BAD: readonly (readonly [string, (id: string) => Answer])[] = [
  ["counts the end as a row", (id) => endAck(id, 7)],
  ["counts fewer rows than were acknowledged", (id) => endAck(id, 1)],
  ["is of another batch", () => endAck("other", 6)],
  ["is of another stream", (id) => endAck(id, 6, 6, { stream: "OTHER" })],
  ["has no count", (id) => endAck(id, 6, 6, { count: "6" })],
  ["is not valid JSON", () => ({ body: "+OK" })],
  ["is empty", () => ({})],
  ["acknowledges rows that were not sent", () => flowAck(9, 2)],
  ["has another type", () => ({ body: { type: "nack", seq: 6 } })],
  ["refuses a row without a code", () => ({ body: { type: "err", seq: 6 } })],
];

for (const [what, answer] of BAD) {
  Deno.test(
    `a last answer that ${what} leaves rows without acknowledgment unknown`,
    onVirtualClock(async () => {
      const fake = fastServer(({ id, operation }) => operation === "commit" ? answer(id) : undefined);
      await using publisher = await open(fake, { maxInFlight: 8 });
      const code = ["publish.bad_ack", "publish.wrong_stream"] as const;
      await publishFails(publisher, idBatch(6), { code, counts: { acked: 4, unknown: 2 } });
    }),
  );
}

Deno.test(
  "a lost connection leaves rows without acknowledgment unknown",
  onVirtualClock(async () => {
    const fake = fastServer(({ sequence }) => sequence > 4 ? [] : undefined);
    await using publisher = await open(fake, { maxInFlight: 8 });
    const counts = { acked: 4, unknown: 8, unsent: 8 };
    const failing = publishFails(publisher, idBatch(20), {
      code: "publish.disconnected",
      outcome: "uncertain",
      counts,
    });
    await turn();
    fake.lose();
    await failing;
  }),
);

Deno.test(
  "a connection that drains while the last row of a piece is sent ends the sequence",
  onVirtualClock(async () => {
    let draining = false;
    const fake = fastServer(({ sequence }) => {
      draining ||= sequence === 1;
      return undefined;
    }, { frames: true });
    Object.assign(fake.nc, { isDraining: () => draining });
    const run = await openRun(fake.nc, {
      stream: "ORDERS",
      subject: "orders.{resource}",
      publishMode: "fast",
      publishTimeout: 60,
    });
    // Each row of 600 kB fills a block of memory, so the gathered rows are sent before the next one.
    const rows = sizedBatch(9, 600_000);
    const error = await failureOf(run.applyAll([{ resource: "eu", rows }], { batchMaxRows: 3 })) as PublishError;
    assert.deepEqual([error.name, error.code], ["PublishError", "publish.disconnected"]);
  }),
);
