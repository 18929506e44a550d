import type { NatsConnection } from "@nats-io/nats-core";
import assert from "node:assert/strict";
import {
  type ApplyAllOptions,
  encodeRows,
  type Options,
  type PublishError,
  type RowBatch,
  type RunReceipt,
} from "../../../mod.ts";
import { resolveSequence } from "../../../src/options/calls.ts";
import { publishSequence } from "../../../src/lifecycle/publish_all.ts";
import type { BegunPiece, LeftPiece, PieceLog } from "../../../src/lifecycle/sequence/piece_log.ts";
import { ACKED, REJECTED, UNKNOWN, UNSENT } from "../../../src/publish/outcomes.ts";
import { assertFailure, assertWhole, failureOf } from "../../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../../_support/arrow/mod.ts";
import { fakeConnection, refusal, StreamModel } from "../../_support/fake/mod.ts";
import { BASE, reached } from "../../faults/_scripted.ts";
import { LossyDialer } from "../_lossy_dialer.ts";
import { onVirtualClock } from "../../_support/clock.ts";

const batch = (rows: number, first = 0): RowBatch => ({ resource: "eu", rows: idBatch(rows, { first }) });

/** Publishes a sequence with a log: one attempt, or more within a budget in milliseconds. */
function logged(
  to: NatsConnection | (() => Promise<NatsConnection>),
  options: Options,
  batches: readonly RowBatch[],
  log: PieceLog,
  { budget = 0, ...limits }: ApplyAllOptions & { readonly budget?: number } = {},
): Promise<RunReceipt> {
  const connect = typeof to === "function" ? to : () => Promise.resolve(to);
  return publishSequence(connect, options, batches, { ...resolveSequence(limits), budget }, log);
}

/** A log that records its calls. */
class Notes implements PieceLog {
  readonly begun: BegunPiece[] = [];
  readonly lost: LeftPiece[] = [];
  opens = 0;

  opened(): void {
    this.opens++;
  }

  begin(piece: BegunPiece): Promise<void> {
    this.begun.push(piece);
    return Promise.resolve();
  }

  left(pieces: readonly LeftPiece[]): void {
    this.lost.push(...pieces);
  }

  get positions(): number[][] {
    return this.begun.map(({ batch, offset, rows }) => [batch, offset, rows]);
  }
}

Deno.test(
  "begin() of a log is called and awaited before the piece's first row is sent",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({ frames: true, answers: (published) => stream.store(published) });
    const notes = new Notes();
    let release = (): void => {};
    const begin = async (piece: BegunPiece): Promise<void> => {
      assert.equal(stream.rows.includes(piece.batch * 10 + piece.offset), false, "none of its rows was sent");
      const sent = fake.published.length;
      await new Promise<void>((resolve) => {
        release = resolve;
        setTimeout(resolve, 5);
      });
      assert.ok(fake.published.length <= sent + 4, "only rows of the previous piece can have been sent meanwhile");
      await notes.begin(piece);
    };
    await logged(fake.nc, BASE, [batch(10), batch(10, 10)], { begin, left: () => {} }, { batchMaxRows: 4 });
    release();
    assert.deepEqual(notes.positions, [[0, 0, 4], [0, 4, 4], [0, 8, 2], [1, 0, 4], [1, 4, 4], [1, 8, 2]]);
    const { bytes, crc32c } = encodeRows(idBatch(4, { first: 4 }));
    const { subject, stream: name, ...piece } = notes.begun[1]!;
    assert.deepEqual(piece, { batch: 0, offset: 4, rows: 4, bytes: bytes.length, crc32c });
    assert.deepEqual([name, subject], ["ORDERS", "orders.eu"]);
    assertWhole(stream.rows, 20);
  }),
);

Deno.test(
  "an error thrown by begin() ends the sequence before the piece is sent",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({ answers: (published) => stream.store(published) });
    const full = new Error("no space left");
    const begin = ({ offset }: BegunPiece) => offset === 4 ? Promise.reject(full) : Promise.resolve();
    const lost: LeftPiece[] = [];
    const log = { begin, left: (pieces: readonly LeftPiece[]) => void lost.push(...pieces) };
    assert.equal(await failureOf(logged(fake.nc, BASE, [batch(10)], log, { batchMaxRows: 4 })), full);
    assert.deepEqual(stream.rows, [0, 1, 2, 3]);
    assert.deepEqual(lost, [], "the first piece has its receipt, the second one was not begun");
  }),
);

Deno.test(
  "left() receives the outcomes of every piece that was begun, of all batches",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({
      frames: true,
      manual: true,
      answers: (published) =>
        published.index === 5 ? refusal(503, 10_077, "maximum messages exceeded") : stream.store(published),
    });
    const options = { ...BASE, publishTimeout: "1m" };
    const notes = new Notes();
    const source = [
      { resource: "eu", rows: numberBatch(4) },
      { resource: "eu", rows: numberBatch(4) },
      { resource: "eu", rows: numberBatch(4) },
    ];
    const failing = failureOf(logged(fake.nc, options, source, notes));
    await reached(fake, 12);
    fake.deliver(7);
    await new Promise((resolve) => setTimeout(resolve, 0));
    fake.lose();
    assertFailure(await failing, 4, { code: "publish.rejected" });
    assert.deepEqual(notes.lost.map(({ batch, offset, codes }) => [batch, offset, [...codes]]), [
      [1, 0, [ACKED, REJECTED, ACKED, UNKNOWN]],
      [2, 0, [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]],
    ]);
    assert.deepEqual([...notes.lost[0]!.sequences!], [5, 0, 6, 0]);
  }),
);

Deno.test(
  "abort of a sequence with a log submits no more rows, and waits for the rows on the wire",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({ frames: true, manual: true, answers: (published) => stream.store(published) });
    const options = { ...BASE, publishTimeout: "1m", maxInFlight: 4 };
    const notes = new Notes();
    const stopping = new AbortController();
    const source = [{ resource: "eu", rows: numberBatch(10) }];
    const failing = failureOf(logged(fake.nc, options, source, notes, { signal: stopping.signal }));
    await reached(fake, 4);
    stopping.abort();
    fake.deliver(4);
    assertFailure(await failing, 10, { code: "publish.aborted" });
    assert.equal(fake.published.length, 4, "nothing was submitted after the abort");
    assert.deepEqual(notes.lost.map(({ codes }) => [...codes]), [[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]]);
  }),
);

Deno.test(
  "left() reports a row as unknown if it was sent more than once with an id and finally refused",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      frames: true,
      // The first answer is lost, the second one is a refusal.
      answers: ({ index }) => index === 0 ? undefined : refusal(503, 10_077, "maximum messages exceeded"),
    });
    const options = { ...BASE, retry: { budget: "10s" } };
    const notes = new Notes();
    await failureOf(logged(fake.nc, options, [batch(1)], notes));
    assert.deepEqual([...notes.lost[0]!.codes], [UNKNOWN]);
  }),
);

Deno.test(
  "publishSequence() calls begin() once per piece and opened() once per connection",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [7, 3, 12] });
    const notes = new Notes();
    await logged(dialer.connect, { ...BASE, maxInFlight: 5 }, [batch(10), batch(20, 10)], notes, {
      budget: 30_000,
      batchMaxRows: 8,
    });
    assertWhole(dialer.stream.rows, 30);
    assert.equal(notes.opens, 4);
    const once = [...new Set(notes.positions.map((position) => position.join()))];
    assert.deepEqual(once, ["0,0,8", "0,8,2", "1,0,8", "1,8,8", "1,16,4"]);
    assert.deepEqual(notes.lost, []);
  }),
);

Deno.test(
  "publishSequence() that gives up passes the combined outcomes of all attempts to left()",
  onVirtualClock(async () => {
    const dialer = new LossyDialer({ loseAt: [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], store: false });
    const notes = new Notes();
    const error = await failureOf(logged(dialer.connect, BASE, [batch(10)], notes, { budget: 1000 }));
    assert.equal((error as PublishError).name, "PublishError");
    const [piece] = notes.lost;
    assert.deepEqual([...piece!.codes.slice(0, 7)], Array(7).fill(ACKED));
    assert.ok(piece!.codes.slice(7).every((code) => code === UNKNOWN || code === UNSENT), String(piece!.codes));
  }),
);
