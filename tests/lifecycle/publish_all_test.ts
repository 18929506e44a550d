import assert from "node:assert/strict";
import {
  ConnectionError,
  encodeRows,
  type JsonForms,
  publishAll,
  type PublishError,
  type RowBatch,
  type WriteReceipt,
} from "../../mod.ts";
import { assertFailure, assertOutcomes, assertWhole, failureOf } from "../_support/failed_publish.ts";
import { batchOf, idBatch, intColumn, numberBatch, textColumn } from "../_support/arrow/mod.ts";
import { NO_RESPONDERS, refusal, streamInfo, StreamModel } from "../_support/fake/mod.ts";
import { BASE, reached } from "../faults/_scripted.ts";
import { LossyDialer } from "./_lossy_dialer.ts";
import { onVirtualClock } from "../_support/clock.ts";

const batch = (rows: number, first = 0): RowBatch => ({ resource: "eu", rows: idBatch(rows, { first }) });
const code = (error: unknown): string => (error as { code: string }).code;

Deno.test(
  "publishAll() sends the remaining rows over another connection, and reports one receipt per piece",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [7, 3, 12] });
    const receipts: WriteReceipt[] = [];
    const total = await publishAll(dialer.connect, { ...BASE, maxInFlight: 5 }, [batch(10), batch(20, 10)], {
      budget: "30s",
      batchMaxRows: 8,
      onReceipt: (receipt) => void receipts.push(receipt),
    });
    assertWhole(dialer.stream.rows, 30);
    assert.deepEqual(receipts.map(({ batch, offset, rows }) => [batch, offset, rows]), [
      [0, 0, 8],
      [0, 8, 2],
      [1, 0, 8],
      [1, 8, 8],
      [1, 16, 4],
    ]);
    for (const { batch: index, offset, rows, crc32c, bytes, sequences } of receipts) {
      const encoded = encodeRows(idBatch(rows, { first: index * 10 + offset }));
      assert.deepEqual([crc32c, bytes], [encoded.crc32c, encoded.bytes.length]);
      const stored = sequences!.flatMap(([a, b]) =>
        Array.from({ length: b - a + 1 }, (_, i) => dialer.stream.rows[a + i - 1])
      );
      assert.deepEqual(stored, Array.from({ length: rows }, (_, i) => index * 10 + offset + i), "in row order");
    }
    assert.deepEqual([total.rows, total.resources[0]!.batches], [30, 2]);
    assert.equal(total.bytes, receipts.reduce((sum, { bytes }) => sum + bytes, 0));
    assert.equal(dialer.connections.length, 4);
    assert.ok(dialer.connections.every((fake) => fake.nc.isClosed()), "who dials closes");
  }),
);

Deno.test(
  "publishAll() returns receipts of the bodies in their forms, also for rows sent over several connections",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [7, 3] });
    const json: JsonForms = { columns: { text: { nulls: "omit" } } };
    const numbers = Array.from({ length: 20 }, (_, i) => i);
    const rows = batchOf([
      intColumn("n", numbers),
      textColumn("_filament_event_id", numbers.map((n) => `evt-${n}`)),
      textColumn("text", numbers.map((n) => n % 2 === 0 ? null : "x")),
    ]);
    const receipts: WriteReceipt[] = [];
    const onReceipt = (receipt: WriteReceipt): void => void receipts.push(receipt);
    const total = await publishAll(dialer.connect, { ...BASE, json }, [{ resource: "eu", rows }], {
      budget: "30s",
      onReceipt,
    });
    const { bytes, crc32c } = encodeRows(rows, { json });
    assert.deepEqual(receipts.map((receipt) => [receipt.bytes, receipt.crc32c]), [[bytes.length, crc32c]]);
    assert.equal(total.bytes, bytes.length);
    assert.equal(dialer.connections.length, 3);
  }),
);

Deno.test(
  "publishAll() sends all pieces that were in flight again over one new connection",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [3] });
    const total = await publishAll(dialer.connect, { ...BASE, publishTimeout: "1m", maxInFlight: 25 }, [batch(30)], {
      budget: "30s",
      batchMaxRows: 4,
    });
    assert.equal(total.rows, 30);
    assertWhole(dialer.stream.rows, 30);
    assert.equal(dialer.connections.length, 2);
  }),
);

Deno.test(
  "publishAll() loses no batch that its source yields between two connections",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [4] });
    let give!: () => void;
    const gate = new Promise<void>((resolve) => give = resolve);
    const source = async function* () {
      yield batch(5);
      await gate; // the connection is lost meanwhile
      yield batch(5, 5);
      yield batch(5, 10);
    };
    dialer.onLoss = () => setTimeout(give, 0);
    const total = await publishAll(dialer.connect, BASE, source(), { budget: "30s" });
    assert.equal(total.rows, 15);
    assertWhole(dialer.stream.rows, 15);
  }),
);

Deno.test(
  "publishAll() loses no batch during which it notices the lost connection",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({});
    const source = async function* () {
      yield batch(5);
      await reached(dialer.connections[0]!, 5);
      dialer.connections[0]!.lose();
      yield batch(5, 5);
      yield batch(5, 10);
    };
    const total = await publishAll(dialer.connect, BASE, source(), { budget: "30s", batchMaxRows: 3 });
    assert.equal(total.rows, 15);
    assertWhole(dialer.stream.rows, 15);
  }),
);

Deno.test(
  "publishAll() loses no piece when the second connection is lost before the piece was sent",
  onVirtualClock(async () => {
    // Each connection looks up each resource's stream; the second connection is lost in that lookup.
    const stream = new StreamModel("S_eu");
    let lookups = 0;
    const dialer: LossyDialer = new LossyDialer({ stream, loseAt: [3] }, {
      requests: () => ++lookups === 2 ? dialer.loseLast() : streamInfo("S_eu", { subjects: ["orders.>"] }),
    });
    const total = await publishAll(dialer.connect, { ...BASE, stream: "S_{resource}" }, [batch(6), batch(4, 6)], {
      budget: "30s",
    });
    assert.equal(total.rows, 10);
    assertWhole(stream.rows, 10);
    assert.equal(dialer.connections.length, 3);
  }),
);

Deno.test(
  "publishAll() does not retry after errors of its source or of onReceipt",
  onVirtualClock(async () => {
    for (const error of [new ConnectionError("connection.closed", "the source's own"), namedError("TimeoutError")]) {
      const dialer = new LossyDialer({});
      const source = async function* () {
        yield batch(2);
        await Promise.resolve();
        throw error;
      };
      assert.equal(await failureOf(publishAll(dialer.connect, BASE, source(), { budget: "30s" })), error);
      let told = 0;
      const onReceipt = () => {
        told++;
        throw error;
      };
      assert.equal(
        await failureOf(publishAll(dialer.connect, BASE, [batch(2), batch(2)], { budget: "30s", onReceipt })),
        error,
      );
      assert.equal(told, 1);
      assert.equal(dialer.connections.length, 2);
    }
  }),
);

Deno.test(
  "publishAll() resends rows without ids if they are provably not stored, and fails if they may be stored",
  onVirtualClock(async () => {
    const refusing: LossyDialer = new LossyDialer({
      answers: (published, store) =>
        refusing.connections.length === 1 && published.index >= 3 ? NO_RESPONDERS : store(),
    });
    const rows = { resource: "eu", rows: numberBatch(8) };
    assert.equal((await publishAll(refusing.connect, BASE, [rows], { budget: "30s" })).rows, 8);
    assertWhole(refusing.stream.rows, 8);

    const dying = new LossyDialer({ loseAt: [4] });
    const error = await failureOf(publishAll(dying.connect, BASE, [rows, { ...rows }], { budget: "30s" }));
    assertFailure(error, 8, { code: "publish.disconnected", outcome: "uncertain" });
    assert.equal(dying.connections.length, 1);
  }),
);

Deno.test(
  "publishAll() fails at once on errors that a new connection cannot fix",
  onVirtualClock(async () => {
    const cases = [
      { name: "options", options: { maxInFlight: 0 }, code: "config.range", connections: 0 },
      { name: "data", batches: [{ ...batch(2), operations: ["insert"] as const }], code: "encode.operations" },
      { name: "a refusal", dialer: { answers: () => refusal(400, 10054, "too large") }, code: "publish.rejected" },
      { name: "another stream", dialer: { answers: () => refusal(400, 10060, "no") }, code: "publish.wrong_stream" },
      { name: "a sealed stream", dialer: { answers: () => refusal(400, 10109, "sealed") }, code: "publish.rejected" },
      { name: "the caller's own error", connect: () => Promise.reject({ code: "mine" }), code: "mine", connections: 0 },
    ];
    for (
      const { name, options = {}, batches = [batch(2)], dialer: how = {}, code: expected, connect, connections = 1 }
        of cases
    ) {
      const dialer = new LossyDialer(how);
      const error = await failureOf(
        publishAll(connect ?? dialer.connect, { ...BASE, ...options }, batches, { budget: "30s" }),
      );
      assert.equal(code(error), expected, name);
      assert.equal(dialer.connections.length, connections, name);
    }
    const missing = new LossyDialer({}, { requests: () => streamInfo("ORDERS", { sealed: true }) });
    assert.equal(
      code(await failureOf(publishAll(missing.connect, BASE, [batch(1)], { budget: "30s" }))),
      "route.sealed",
    );
    assert.equal(missing.connections.length, 1);
  }),
);

Deno.test(
  "publishAll() retries without leader, server or answer until the budget is used up",
  onVirtualClock(async () => {
    let lookups = 0;
    const dialer = new LossyDialer({}, {
      requests: () => ++lookups === 1 ? streamInfo("ORDERS", {}, { cluster: {} }) : streamInfo("ORDERS"),
    });
    let dials = 0;
    const connect = () => {
      dials++;
      if (dials % 2 === 1) return Promise.reject(new ConnectionError("connection.refused", "Cannot connect"));
      return dialer.connect();
    };
    assert.equal((await publishAll(connect, BASE, [batch(3)], { budget: "30s" })).rows, 3);
    // The last lookup checks that the stream was not recreated.
    assert.deepEqual([dials, lookups], [4, 3]);

    // The last pause is the rest of the budget, however short.
    for (const [budget, least] of [[5000, 3], [60, 2]] as const) {
      const times: number[] = [];
      const gone = () => {
        times.push(performance.now());
        return Promise.reject(new ConnectionError("connection.refused", "Cannot connect"));
      };
      assert.equal(code(await failureOf(publishAll(gone, BASE, [batch(3)], { budget }))), "connection.refused");
      assert.ok(times.length >= least, `${times.length} dials`);
      // Timers may fire a millisecond early.
      assert.ok(times.at(-1)! - times[0]! > budget - 50, `${times.at(-1)! - times[0]!} ms`);
    }
  }),
);

Deno.test(
  "publishAll() counts its budget from the last acknowledged row, not from the error that ended the attempt",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ answers: ({ index }, store) => index === 0 ? store() : undefined });
    const options = { ...BASE, publishTimeout: 1500 };
    const error = await failureOf(publishAll(dialer.connect, options, [batch(2)], { budget: 300 }));
    assert.equal(code(error), "publish.timeout");
    assert.equal(dialer.connections.length, 1);
  }),
);

Deno.test(
  "publishAll() does not count the time that its source takes against the budget",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({});
    const source = async function* () {
      yield batch(5);
      await reached(dialer.connections[0]!, 5);
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      dialer.connections[0]!.lose();
      yield batch(5, 5);
    };
    assert.equal((await publishAll(dialer.connect, BASE, source(), { budget: "2s" })).rows, 10);
    assertWhole(dialer.stream.rows, 10);
  }),
);

Deno.test(
  "publishAll() reports the rows' outcomes also when it fails because dialling keeps failing",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [4], store: false });
    let dials = 0;
    const connect = () =>
      ++dials === 1
        ? dialer.connect()
        : Promise.reject(new ConnectionError("connection.refused", "Cannot connect to it"));
    const receipts: WriteReceipt[] = [];
    const error = await failureOf(publishAll(connect, { ...BASE, maxInFlight: 6 }, [batch(3), batch(9, 3)], {
      budget: "3s",
      onReceipt: (receipt) => void receipts.push(receipt),
    }));
    const failure = error as PublishError;
    assert.equal(failure.code, "publish.disconnected");
    assert.equal(failure.batch, 1);
    assertOutcomes(failure, 9);
    assert.equal(failure.outcome, "uncertain");
    assert.match(failure.message, /Cannot connect to it/);
    assert.equal((failure.cause as ConnectionError).code, "connection.refused");
    assert.deepEqual(receipts.map(({ rows }) => rows), [3]);
  }),
);

Deno.test(
  "publishAll() resends no row of unknown outcome once the duplicate window may have passed",
  onVirtualClock(async () => {
    const requests = () => streamInfo("ORDERS", { duplicate_window: 10_000_000_000 });
    const dialer = new LossyDialer({ loseAt: [2] }, { requests });
    let dials = 0;
    const connect = async () => {
      // The second dial takes longer than the duplicate window.
      if (++dials === 2) await new Promise((resolve) => setTimeout(resolve, 10_200));
      return await dialer.connect();
    };
    const error = await failureOf(publishAll(connect, BASE, [batch(5)], { budget: "1m" }));
    assertFailure(error, 5, { code: "publish.disconnected", outcome: "uncertain" });
    assert.equal(dialer.connections[1]!.published.length, 0);
    assert.ok(dialer.connections[1]!.nc.isClosed());
  }),
);

Deno.test(
  "publishAll() throws publish.aborted when its signal aborts at any stage",
  onVirtualClock(async () => {
    const stopped = new Error("stop");
    const run = (
      connect: LossyDialer["connect"],
      abort: AbortController,
      batches: Iterable<RowBatch> | AsyncIterable<RowBatch> = [batch(4)],
    ) =>
      failureOf(
        publishAll(connect, { ...BASE, publishTimeout: "5s" }, batches, { budget: "1m", signal: abort.signal }),
      );

    const before = new AbortController();
    before.abort(stopped);
    const dialer = new LossyDialer({});
    assertAborted(await run(dialer.connect, before), 0, "none");
    assert.equal(dialer.connections.length, 0);

    const dialling = new AbortController();
    const never = run(() => new Promise(() => {}), dialling);
    dialling.abort(stopped);
    assertAborted(await never, 0, "none");

    const pausing = new AbortController();
    const dead = new LossyDialer({ loseAt: [2] });
    dead.onLoss = () => setTimeout(() => pausing.abort(stopped), 50);
    assertAborted(await run(dead.connect, pausing), 4, "uncertain");
    assert.equal(dead.connections.length, 1);

    const waiting = new AbortController();
    const silent = new LossyDialer({ answers: () => undefined });
    const publishing = run(silent.connect, waiting);
    while (silent.connections.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    await reached(silent.connections[0]!, 4);
    waiting.abort(stopped);
    assertAborted(await publishing, 4, "uncertain");
    assert.ok(silent.connections[0]!.nc.isClosed());

    function assertAborted(error: unknown, rows: number, outcome: PublishError["outcome"]): void {
      const failure = assertFailure(error, rows, { code: "publish.aborted", outcome });
      assert.equal(failure.cause, stopped);
    }
  }),
);

function namedError(name: string): Error {
  const error = new Error(`a ${name} of the caller's`);
  error.name = name;
  return error;
}
