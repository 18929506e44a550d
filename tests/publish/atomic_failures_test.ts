import assert from "node:assert/strict";
import type { PublishErrorCode } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import { type Answer, NO_RESPONDERS, refusal, TOO_MANY_REQUESTS } from "../_support/fake/mod.ts";
import { atomicServer, batchRow, type BatchScript, committed } from "./_atomic_server.ts";
import { opener, publishFails, turn } from "./_batches.ts";
import { onVirtualClock } from "../_support/clock.ts";

const open = opener("atomic");

const REFUSALS: readonly (readonly [Answer, number, PublishErrorCode])[] = [
  ...[10002, 10023, 10054, 10071, 10077, 10097, 10109, 10111, 10120, 10164, 10165, 10166].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  ...[10174, 10175, 10176, 10177, 10179, 10185, 10199, 10200].map((code) =>
    [refusal(400, code, "no"), code, "publish.rejected"] as const
  ),
  [refusal(400, 10060, "expected stream does not match"), 10060, "publish.wrong_stream"],
  [refusal(429, 10210, "too many"), 10210, "publish.overloaded"],
  [TOO_MANY_REQUESTS, 10167, "publish.overloaded"],
  [NO_RESPONDERS, 503, "publish.no_responders"],
];

for (const [answer, serverCode, code] of REFUSALS) {
  Deno.test(
    `a commit refused with ${serverCode} leaves every row rejected: ${code}`,
    onVirtualClock(async () => {
      await using publisher = await open(atomicServer((row) => row.commit ? answer : undefined));
      await publishFails(publisher, idBatch(5), { code, serverCode, outcome: "partial", counts: { rejected: 5 } });
    }),
  );

  Deno.test(
    `a first row refused with ${serverCode} ends a batch that is never committed: ${code}`,
    onVirtualClock(async () => {
      const fake = atomicServer((row) => row.sequence === 1 ? answer : undefined);
      await using publisher = await open(fake);
      await publishFails(publisher, idBatch(5), { code, serverCode, outcome: "none", counts: { unsent: 5 } });
      assert.equal(fake.published.length, 1);
    }),
  );
}

Deno.test(
  "an id that is still in process leaves every row unknown",
  onVirtualClock(async () => {
    await using publisher = await open(
      atomicServer((row) => row.commit ? refusal(409, 10158, "in process") : undefined),
    );
    await publishFails(publisher, idBatch(5), {
      code: "publish.rejected",
      serverCode: 10158,
      outcome: "uncertain",
      counts: { unknown: 5 },
    });
  }),
);

Deno.test(
  "a server that stores the first row without a batch is sent no further row",
  onVirtualClock(async () => {
    const fake = atomicServer((row) => ({ body: { stream: "ORDERS", seq: row.sequence } }));
    await using publisher = await open(fake);
    await publishFails(publisher, idBatch(5), {
      code: "publish.bad_ack",
      outcome: "uncertain",
      counts: { unknown: 1, unsent: 4 },
    });
    assert.equal(fake.published.length, 1);
  }),
);

const BAD_COMMITS: readonly (readonly [string, BatchScript, PublishErrorCode])[] = [
  ["of another batch", (row) => committed({ ...row, id: "other" }, 5), "publish.bad_ack"],
  ["of no batch", () => ({ body: { stream: "ORDERS", seq: 5 } }), "publish.bad_ack"],
  ["of fewer rows", (row) => committed(row, 5, { count: 4 }), "publish.bad_ack"],
  ["of more rows, a marker counted", (row) => committed(row, 6, { count: 6 }), "publish.bad_ack"],
  ["with a sequence too low for its rows", (row) => committed(row, 4), "publish.bad_ack"],
  ["that says duplicate", (row) => committed(row, 5, { duplicate: true }), "publish.bad_ack"],
  ["of another stream", (row) => committed(row, 5, { stream: "OTHER" }), "publish.wrong_stream"],
  ["that is empty", () => ({}), "publish.bad_ack"],
  ["that is not valid JSON", () => ({ body: "+OK" }), "publish.bad_ack"],
];

for (const [what, script, code] of BAD_COMMITS) {
  Deno.test(
    `an answer to the commit ${what} leaves every row unknown`,
    onVirtualClock(async () => {
      await using publisher = await open(
        atomicServer((row, published) => row.commit ? script(row, published) : undefined),
      );
      await publishFails(publisher, idBatch(5), { code, outcome: "uncertain", counts: { unknown: 5 } });
    }),
  );
}

Deno.test(
  "a lost answer to the commit leaves every row unknown, a lost answer to the first row leaves them unsent",
  onVirtualClock(async () => {
    await using one = await open(atomicServer((row) => row.commit ? null : undefined), { publishTimeout: 20 });
    await publishFails(one, idBatch(5), { code: "publish.timeout", outcome: "uncertain", counts: { unknown: 5 } });
    await using two = await open(atomicServer(() => null), { publishTimeout: 20 });
    await publishFails(two, idBatch(5), { code: "publish.timeout", outcome: "none", counts: { unsent: 5 } });
  }),
);

Deno.test(
  "a lost connection leaves a committed batch unknown, and one without a commit unsent",
  onVirtualClock(async () => {
    for (const [waitsFor, known] of [[true, { unknown: 5 }], [false, { unsent: 5 }]] as const) {
      const fake = atomicServer((row) => row.commit === waitsFor ? null : undefined);
      await using publisher = await open(fake);
      const failing = publishFails(publisher, idBatch(5), { code: "publish.disconnected", counts: known });
      await turn();
      fake.lose();
      await failing;
    }
  }),
);

Deno.test(
  "a batch aborted before its commit stores nothing, and the publisher stays usable",
  onVirtualClock(async () => {
    const silent = { first: true };
    const fake = atomicServer((row) => silent.first && row.sequence === 1 ? null : undefined);
    await using publisher = await open(fake);
    const abort = new AbortController();
    const expected = { code: "publish.aborted", outcome: "none", counts: { unsent: 5 } } as const;
    const failing = publishFails(publisher, idBatch(5), expected, abort.signal);
    await turn();
    abort.abort(new Error("enough"));
    await failing;
    silent.first = false;
    fake.answer(fake.published[0]!, {}); // the late answer commits nothing
    assert.equal((await publisher.publish({ resource: "eu", rows: idBatch(3) })).rows, 3);
    assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 1, 2, 3]);
  }),
);

Deno.test(
  "a call's failure ends the waiting batches with what is known of them",
  onVirtualClock(async () => {
    const fake = atomicServer((row) =>
      row.commit ? (row.sequence === 2 ? refusal(400, 10077, "full") : null) : undefined
    );
    await using publisher = await open(fake, { publishTimeout: 50, maxInFlight: 5 });
    const code = "publish.rejected";
    await Promise.all([
      publishFails(publisher, numberBatch(1), { code, counts: { unknown: 1 } }),
      publishFails(publisher, numberBatch(2), { code, counts: { rejected: 2 } }),
      publishFails(publisher, numberBatch(3), { code, counts: { unsent: 3 } }),
    ]);
  }),
);

Deno.test(
  "a batch that was handed to a connection that then threw is not reported as unsent",
  onVirtualClock(async () => {
    for (const answered of [true, false]) {
      const fake = atomicServer((row) => row.commit && !answered ? null : undefined, { frames: true });
      const { protocol } = fake.nc as unknown as { protocol: { sendCommand(frames: Uint8Array): void } };
      const send = protocol.sendCommand.bind(protocol);
      let bursts = 0;
      protocol.sendCommand = (frames) => {
        send(frames);
        if (++bursts === 2) throw new Error("after the write");
      };
      const publisher = await open(fake, { publishTimeout: 1000 });
      const call = publisher.publish({ resource: "eu", rows: idBatch(5) });
      if (answered) assert.equal((await call).rows, 5);
      else assertFailure(await failureOf(call), 5, { code: "publish.disconnected", counts: { unknown: 5 } });
      assert.ok(batchRow(fake.published.at(-1)!).commit);
      assert.match(String(await publisher.closed()), /after the write/);
      await publisher.close();
    }
  }),
);
