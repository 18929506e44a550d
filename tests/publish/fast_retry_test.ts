import assert from "node:assert/strict";
import { PublisherCore } from "../../src/publish/core.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { currentMoment } from "../../src/stream/resend.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import { NO_RESPONDERS } from "../_support/fake/mod.ts";
import { opener, publishFails } from "./_batches.ts";
import { fastServer, operationsOf } from "./_fast_server.ts";
import { onVirtualClock, withManualClock } from "../_support/clock.ts";

const open = opener("fast");

Deno.test(
  "with retry, rows that are not stored are resent in a new batch, in order",
  onVirtualClock(async () => {
    let lost = 0;
    const fake = fastServer(({ sequence, operation }) =>
      sequence === 4 && operation === "append" && lost++ < 2 ? NO_RESPONDERS : undefined
    );
    await using publisher = await open(fake, { retry: { budget: 5000 } });
    const receipt = await publisher.publish({ resource: "eu", rows: numberBatch(12) });
    assert.equal(receipt.rows, 12);
    assert.equal(receipt.lastSequence, 12);
    assert.equal(publisher.stats().inFlight, 0);
  }),
);

Deno.test(
  "with retry, rows of unknown outcome are resent with the same ids",
  onVirtualClock(async () => {
    let silent = true;
    const ids = new Map<string, number>();
    const fake = fastServer(({ sequence, operation }, { headers }) => {
      const id = /Nats-Msg-Id: (\S+)/.exec(new TextDecoder().decode(headers))?.[1];
      if (id !== undefined) ids.set(id, (ids.get(id) ?? 0) + 1);
      if (sequence === 6 && operation === "append") {
        setTimeout(() => silent = false, 50);
      }
      return silent && sequence > 5 ? [] : undefined;
    });
    await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 60, maxInFlight: 8 });
    assert.equal((await publisher.publish({ resource: "eu", rows: idBatch(12) })).rows, 12);
    assert.equal(ids.size, 12);
    assert.ok([...ids.values()].some((times) => times > 1));
  }),
);

Deno.test(
  "with retry, rows of unknown outcome without ids are not resent",
  onVirtualClock(async () => {
    const fake = fastServer(({ sequence }) => sequence > 5 ? [] : undefined);
    await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 60, maxInFlight: 8 });
    await publishFails(publisher, numberBatch(12), { code: "publish.timeout", counts: { acked: 4, unknown: 8 } });
  }),
);

Deno.test(
  "a row that must not be resent ends the batch after the rows before it",
  onVirtualClock(async () => {
    const fake = fastServer();
    const options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "fast" } as const;
    const core = await PublisherCore.open(fake.nc, options);
    const { wall, steady } = currentMoment();
    const longAgo = { wall: wall - 600_000, steady: steady - 600_000 };
    const source = {
      ...openBatch({ resource: "eu", rows: idBatch(8) }, core.settings),
      earlier: { duplicateWindow: 120_000, firstSent: (row: number) => row === 4 ? longAgo : undefined },
    };
    const call = core.start(source, { from: 0, count: 8 }, { signal: undefined, cut: false });
    const error = await failureOf(call.done);
    assertFailure(error, 8, { code: "publish.timeout", counts: { acked: 4, unsent: 4 } });
    assert.equal(operationsOf(fake), "start 1, append 2, append 3, append 4, end 5");
  }),
);

Deno.test("every row that is acknowledged as new after its duplicate window is unknown", async () => {
  await withManualClock(async (clock) => {
    const fake = fastServer(undefined, { manual: true });
    const options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "fast" } as const;
    const core = await PublisherCore.open(fake.nc, options);
    const justNow = currentMoment();
    const source = {
      ...openBatch({ resource: "eu", rows: idBatch(6) }, core.settings),
      earlier: { duplicateWindow: 120_000, firstSent: (row: number) => row < 4 ? justNow : undefined },
    };
    const call = core.start(source, { from: 0, count: 6 }, { signal: undefined, cut: false });
    await clock.settle();
    fake.deliver();
    await clock.settle();
    assert.equal(operationsOf(fake), "start 1, append 2, append 3, append 4, append 5, commit 6");
    clock.suspend(600_000);
    fake.deliver();
    const error = await failureOf(call.done);
    assertFailure(error, 6, { code: "publish.timeout", row: 0, counts: { unknown: 4, acked: 2 } });
    await core.close();
  });
});
