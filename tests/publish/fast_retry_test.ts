import assert from "node:assert/strict";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import { NO_RESPONDERS } from "../_support/fake/mod.ts";
import { opener, publishFails } from "./_batches.ts";
import { fastServer } from "./_fast_server.ts";
import { onVirtualClock } from "../_support/clock.ts";

const open = opener("fast");

Deno.test(
  "with retry, the rows that are not stored go again in a new batch, in order",
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
  "with retry, rows of unknown fate go again under the same ids",
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
  "with retry, rows of unknown fate without ids do not go again",
  onVirtualClock(async () => {
    const fake = fastServer(({ sequence }) => sequence > 5 ? [] : undefined);
    await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 60, maxInFlight: 8 });
    await publishFails(publisher, numberBatch(12), { code: "publish.timeout", counts: { acked: 4, unknown: 8 } });
  }),
);
