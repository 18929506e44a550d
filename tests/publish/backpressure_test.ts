import assert from "node:assert/strict";
import { Publisher } from "../../mod.ts";
import { numberBatch, sizedBatch } from "../_support/arrow/mod.ts";
import { ack, fakeConnection } from "../_support/fake/mod.ts";
import { until } from "../_support/wait.ts";
import { onVirtualClock } from "../_support/clock.ts";

const options = { stream: "ORDERS", subject: "orders.all" };

for (const frames of [true, false]) {
  const wire = frames ? "frames" : "publish";

  Deno.test(
    `100,000 rows over ${wire} have distinct reply subjects, and at most maxInFlight are outstanding`,
    onVirtualClock(async () => {
      let most = 0;
      const fake = fakeConnection({
        frames,
        answers: ({ index }) => {
          most = Math.max(most, publisher.stats().inFlight);
          return ack("ORDERS", index + 1);
        },
      });
      const publisher = await Publisher.open(fake.nc, { ...options, maxInFlight: 100 });
      const receipt = await publisher.publish({ resource: "r", rows: numberBatch(100_000) });
      assert.equal(receipt.rows, 100_000);
      assert.equal(most, 100);
      assert.equal(new Set(fake.published.map(({ reply }) => reply)).size, 100_000);
      assert.ok(fake.published.every(({ reply }) => reply.startsWith("_INBOX.")));
      await publisher.close();
    }),
  );

  Deno.test(
    `10,000 rows over ${wire} take rows / maxInFlight round trips, not one per row`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames, manual: true });
      const publisher = await Publisher.open(fake.nc, { ...options, maxInFlight: 1000 });
      const publishing = publisher.publish({ resource: "r", rows: numberBatch(10_000) });
      for (let trip = 1; trip <= 10; trip++) {
        await until(`round trip ${trip}`, () => {
          assert.ok(publisher.stats().inFlight <= 1000);
          return publisher.stats().inFlight === 1000 ? true : undefined;
        });
        fake.deliver();
        assert.equal(fake.published.length, trip * 1000);
      }
      assert.equal((await publishing).rows, 10_000);
      await publisher.close();
    }),
  );
}

Deno.test(
  "the window is also limited by bytes: rows that do not fit wait, and all are sent in the end",
  onVirtualClock(async () => {
    const fake = fakeConnection({ frames: true, manual: true });
    const publisher = await Publisher.open(fake.nc, { ...options, maxInFlightBytes: 10_000 });
    const publishing = publisher.publish({ resource: "r", rows: sizedBatch(50, 1000) });
    let rounds = 0;
    while (fake.published.length < 50) {
      await until("a full window", () => publisher.stats().inFlightBytes > 0 ? true : undefined);
      const { inFlight, inFlightBytes } = publisher.stats();
      assert.ok(inFlightBytes <= 10_000 && inFlight >= 1, `${inFlight} rows, ${inFlightBytes} bytes`);
      fake.deliver();
      rounds++;
    }
    assert.equal((await publishing).rows, 50);
    assert.ok(rounds >= 6, "at most nine such rows fit");
    assert.deepEqual([publisher.stats().inFlight, publisher.stats().inFlightBytes], [0, 0]);
    await publisher.close();
  }),
);
