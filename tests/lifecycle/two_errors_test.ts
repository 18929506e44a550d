import assert from "node:assert/strict";
import { EncodeError, openRun, publishAll, type PublishErrorCode, type RowBatch } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { batchOf, idBatch, numberBatch, textColumn } from "../_support/arrow/mod.ts";
import { fakeConnection, type FakeConnectionOptions, refusal, streamInfo } from "../_support/fake/mod.ts";
import { BASE } from "../faults/_scripted.ts";
import { LossyDialer } from "./_lossy_dialer.ts";
import { onVirtualClock } from "../_support/clock.ts";

const batch = (rows: number): RowBatch => ({ resource: "eu", rows: numberBatch(rows) });

/** Rows, one of which repeats the first row's id with another body. */
function repeated(rows: number, at: number): RowBatch {
  const ids = Array.from({ length: rows }, (_, row) => `id ${row === at ? 0 : row}`);
  const strings = ids.map((_, row) => `row ${row}`);
  return { resource: "eu", rows: batchOf([textColumn("_filament_event_id", ids), textColumn("t", strings)], rows) };
}

const gone = new Error("the source is gone");
const isCode = (code: string) => (cause: unknown) => (cause as { code?: string }).code === code;

/** A second error that ends a sequence while rows are in flight, and how to recognize it. */
const FAULTS: readonly {
  readonly name: string;
  readonly source: () => Iterable<RowBatch>;
  readonly known: (cause: unknown) => boolean;
  readonly rows: number;
}[] = [
  {
    name: "a bad row in a later piece",
    source: () => [repeated(12, 5)],
    known: isCode("encode.duplicate_id"),
    rows: 12,
  },
  {
    name: "a bad row in a later batch",
    source: () => [batch(4), repeated(4, 3)],
    known: isCode("encode.duplicate_id"),
    rows: 4,
  },
  {
    name: "a later batch's resource",
    source: () => [batch(4), { ...batch(4), resource: "e u" }],
    known: isCode("route.subject"),
    rows: 4,
  },
  {
    name: "a source that throws",
    source: function* () {
      yield batch(4);
      throw gone;
    },
    known: (cause) => cause === gone,
    rows: 4,
  },
];

/** What happens to the rows before it. */
const FATES: readonly (readonly [how: string, FakeConnectionOptions, PublishErrorCode, "unknown" | "rejected"])[] = [
  ["not answered", { answers: () => undefined }, "publish.timeout", "unknown"],
  ["refused", { answers: () => refusal(503, 10_077, "full"), manual: true }, "publish.rejected", "rejected"],
];

for (const { name, source, known, rows } of FAULTS) {
  for (const [how, options, code, fate] of FATES) {
    Deno.test(
      `${name} does not hide that earlier rows were ${how}`,
      onVirtualClock(async () => {
        const fake = fakeConnection(options);
        const run = await openRun(fake.nc, BASE);
        const failing = failureOf(run.applyAll(source(), { batchMaxRows: 4 }));
        // The refusals are delivered after the other error has occurred.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
        fake.deliver();
        const error = await failing;
        const failure = assertFailure(error, rows, { code });
        assert.equal(failure.batch, 0);
        assert.ok(failure.rowOutcomes.counts[fate] >= 4);
        assert.ok(known(failure.cause));
        assert.match(failure.message, /; also: /);
        assert.equal(await failureOf(run.commit()), error);
      }),
    );
  }
}

Deno.test(
  "an error of onReceipt does not hide that later rows were not answered",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      answers: ({ index }) => index < 4 ? { body: { stream: "ORDERS", seq: index + 1 } } : undefined,
    });
    const run = await openRun(fake.nc, BASE);
    const full = new Error("no space left");
    const onReceipt = () => Promise.reject(full);
    const error = await failureOf(run.applyAll([batch(12)], { batchMaxRows: 4, onReceipt }));
    const failure = assertFailure(error, 12, { code: "publish.timeout" });
    assert.equal(failure.rowOutcomes.counts.acked, 4);
    assert.equal(failure.cause, full);
  }),
);

Deno.test(
  "publishAll() that finds its stream sealed reports the outcomes of the rows that were in flight",
  onVirtualClock(async () => {
    let lookups = 0;
    const dialer = new LossyDialer({ loseAt: [4], store: false }, {
      requests: () => streamInfo("ORDERS", ++lookups === 1 ? {} : { sealed: true }),
    });
    const batches = [{ resource: "eu", rows: idBatch(9) }];
    const error = await failureOf(publishAll(dialer.connect, { ...BASE, maxInFlight: 6 }, batches, { budget: "5s" }));
    const failure = assertFailure(error, 9, { code: "publish.disconnected" });
    assert.equal(failure.rowOutcomes.counts.acked, 4);
    assert.ok(isCode("route.sealed")(failure.cause));
  }),
);

Deno.test(
  "an encode error names its batch when all earlier rows are stored",
  onVirtualClock(async () => {
    const cases: readonly (readonly [RowBatch[], string, number, number | undefined])[] = [
      [[batch(4), repeated(4, 3), batch(1)], "encode.duplicate_id", 1, 3],
      [[batch(4), batch(4), { ...batch(2), operations: ["insert"] }], "encode.operations", 2, undefined],
    ];
    for (const [batches, code, index, row] of cases) {
      const run = await openRun(fakeConnection({ frames: true }).nc, BASE);
      const error = await failureOf(run.applyAll(batches)) as EncodeError;
      assert.deepEqual([error.name, error.code, error.batch, error.row], ["EncodeError", code, index, row]);
      assert.match(error.message, new RegExp(`\\(batch ${index} of the sequence\\)$`));
      assert.equal(await failureOf(run.commit()), error);
    }
    // An EncodeError that the source itself throws is passed on unchanged.
    const mine = new EncodeError("encode.value", "not ours");
    const failing = await openRun(fakeConnection().nc, BASE);
    const source = function* (): Generator<RowBatch> {
      yield batch(1);
      throw mine;
    };
    assert.equal(await failureOf(failing.applyAll(source())), mine);
    const single = await openRun(fakeConnection().nc, BASE);
    const error = await failureOf(single.apply(repeated(4, 3))) as EncodeError;
    assert.deepEqual([error.batch, / of the sequence/.test(error.message)], [undefined, false]);
    await single.abort();
  }),
);
