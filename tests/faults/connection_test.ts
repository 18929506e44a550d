import assert from "node:assert/strict";
import { PermissionViolationError } from "@nats-io/nats-core";
import { Publisher } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, NO_RESPONDERS } from "../_support/fake/mod.ts";
import { BASE, reached, STAGINGS, testFault } from "./_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

testFault("fails at once when the connection is lost with a full window", () => ({
  rows: 30,
  options: { maxInFlight: 10, publishTimeout: "1m" },
  answers: ({ index }, store) => {
    const answer = store();
    return index < 10 ? answer : undefined;
  },
  act: async ({ fake }) => {
    await reached(fake, 20);
    fake.lose(new Error("reset by peer"));
  },
  expected: {
    code: "publish.disconnected",
    outcome: "uncertain",
    counts: { acked: 10, unknown: 10, unsent: 10 },
  },
}));

testFault("stays failed after the connection was lost, even if the client reconnects", () => ({
  options: { publishTimeout: "1m" },
  answers: ({ index }, store) => index < 5 ? store() : undefined,
  act: async ({ fake }) => {
    await reached(fake, 20);
    fake.disconnect();
    fake.reconnect();
  },
  expected: { code: "publish.disconnected", outcome: "uncertain", counts: { acked: 5, unknown: 15 } },
}));

testFault("does not wait for the other rows when the connection is lost after a failure", () => ({
  options: { publishTimeout: "1m" },
  answers: ({ index }, store) => index === 3 ? NO_RESPONDERS : index < 10 ? store() : undefined,
  act: async ({ fake }) => {
    await reached(fake, 20);
    fake.lose();
  },
  expected: {
    code: "publish.no_responders",
    serverCode: 503,
    row: 3,
    outcome: "uncertain",
    counts: { acked: 9, rejected: 1, unknown: 10 },
  },
}));

testFault("ends with publish.permission when the server refuses a publish", () => ({
  rows: 10,
  options: { maxInFlight: 5 },
  answers: () => undefined,
  act: async ({ fake }) => {
    await reached(fake, 5);
    fake.emit({ type: "error", error: new PermissionViolationError("no", "publish", "orders.eu") });
  },
  expected: { code: "publish.permission", outcome: "uncertain", counts: { unknown: 5, unsent: 5 } },
}));

testFault("ends with publish.permission when the permission for its inbox is revoked", () => ({
  rows: 10,
  options: { maxInFlight: 5 },
  answers: () => undefined,
  act: async ({ fake }) => {
    await reached(fake, 5);
    const [inbox] = fake.subscribed;
    fake.emit({ type: "error", error: new PermissionViolationError("no", "subscription", inbox!) });
  },
  expected: { code: "publish.permission", outcome: "uncertain", counts: { unknown: 5, unsent: 5 } },
}));

testFault("is not affected by refusals of other subjects", () => ({
  answers: ({ index }, store) => index === 19 ? NO_RESPONDERS : store(),
  connection: { manual: true },
  act: async ({ fake }) => {
    await reached(fake, 20);
    fake.emit({ type: "error", error: new PermissionViolationError("no", "publish", "orders.us") });
    fake.emit({ type: "error", error: new PermissionViolationError("no", "subscription", "_INBOX.other.*") });
    await Promise.resolve();
    fake.deliver();
  },
  expected: { code: "publish.no_responders", row: 19, outcome: "partial" },
}));

for (const frames of [false, true]) {
  Deno.test(
    `publish() reports unanswered rows as unknown, and ignores late answers (frames: ${frames})`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames, answers: () => undefined });
      const publisher = await Publisher.open(fake.nc, BASE);
      const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(500) }));
      assertFailure(error, 500, { code: "publish.timeout", row: 0, outcome: "uncertain", counts: { unknown: 500 } });
      assert.deepEqual(fake.subscribed, []);
    }),
  );
}

for (const { frames, owned } of STAGINGS) {
  Deno.test(
    `publish() on a connection already lost fails with nothing sent (frames: ${frames}, own connection: ${owned})`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames });
      const publisher = await Publisher.open(owned ? () => Promise.resolve(fake.nc) : fake.nc, BASE);
      fake.lose();
      const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(3) }));
      assertFailure(error, 3, { code: "publish.disconnected", outcome: "none", counts: { unsent: 3 } });
      assert.equal(publisher.stats().connected, false);
      assert.equal(fake.published.length, 0);
      assert.equal(await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) })), error);
      await publisher.close();
    }),
  );

  Deno.test(
    `a publisher notices the loss of an idle connection before the next call (frames: ${frames}, own connection: ${owned})`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames });
      const publisher = await Publisher.open(owned ? () => Promise.resolve(fake.nc) : fake.nc, BASE);
      await publisher.publish({ resource: "eu", rows: idBatch(3) });
      fake.disconnect();
      fake.reconnect();
      await fake.nc.flush();
      const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(3) }));
      assertFailure(error, 3, { code: "publish.disconnected", outcome: "none", counts: { unsent: 3 } });
      assert.equal(publisher.stats().connected, false);
      await publisher.close();
    }),
  );
}

Deno.test(
  "publish() does not time out a row whose answer arrived while the caller blocked the event loop",
  onVirtualClock(async (clock) => {
    const fake = fakeConnection({ answers: () => undefined });
    const publisher = await Publisher.open(fake.nc, { ...BASE, publishTimeout: 30 });
    const done = publisher.publish({ resource: "eu", rows: idBatch(200) });
    await reached(fake, 200);
    // Answers that are in the socket while the loop is blocked: each turn of the loop reads some.
    const answers = [...fake.published];
    const read = (): void => {
      for (const published of answers.splice(0, 50)) {
        fake.answer(published, { body: { stream: "ORDERS", seq: published.index + 1 } });
      }
      fake.deliver();
      if (answers.length > 0) setTimeout(read, 0);
    };
    setTimeout(read, 0);
    clock.busy(150);
    assert.equal((await done).rows, 200);
    await publisher.close();
  }),
);
