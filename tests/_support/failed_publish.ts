/**
 * The checks after every failed publish: the error is right, the outcomes add up and agree with the stream, everything
 * is released, nothing happens afterwards, and a replay of the unsettled rows stores every row.
 *
 * Rows are those of `idBatch` or `numberBatch`: each has its number in `n`, from 0.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  isJetrowError,
  type Publisher,
  PublishError,
  type PublishErrorCode,
  type RowBatch,
  type RowOutcome,
} from "../../mod.ts";

/** What an error must be. */
export interface ExpectedFailure {
  /** The code, or all codes that are possible in a race. */
  readonly code: PublishErrorCode | readonly PublishErrorCode[];
  /** The outcome; absent: any outcome that agrees with the rows. */
  readonly outcome?: PublishError["outcome"];
  /** The server's code; absent: any. */
  readonly serverCode?: number;
  /** The row; absent: any. */
  readonly row?: number;
  /** The given counts; absent ones may be any. */
  readonly counts?: Partial<Record<RowOutcome, number>>;
}

/** A failed publish, and access to what it left. */
export interface Failed {
  /** What the call threw. */
  readonly error: unknown;
  /** What the error must be. */
  readonly expected: ExpectedFailure;
  /** The batch. */
  readonly batch: RowBatch;
  /** The number of rows in the batch. */
  readonly rows: number;
  /** The publisher. */
  readonly publisher: Pick<Publisher, "publish" | "stats" | "close">;
  /** The numbers of the rows in the stream, each as often as it is stored. */
  stored(): Promise<readonly number[]>;
  /** Fails unless the inbox is unsubscribed; the connection must be closed if it is the publisher's, and open if not. */
  assertReleased(): Promise<void>;
  /** Answers every message again, as if it had been stored. */
  answerLate(): Promise<void>;
  /** Whether the stream is still the one in which rows were acknowledged. @default {true} */
  readonly kept?: boolean;
  /** Opens a publisher with the same options; absent: the stream no longer accepts rows. */
  readonly reopen?: () => Promise<Publisher>;
}

/** Runs all checks. Returns the error. */
export async function assertFailedPublish(failed: Failed): Promise<PublishError> {
  const error = assertFailure(failed.error, failed.rows, failed.expected);
  assertAgreement(error, failed.rows, await failed.stored(), failed.kept);
  await failed.assertReleased();
  await assertQuiet(failed, error);
  await failed.publisher.close();
  if (failed.reopen !== undefined) await assertReplay(failed, error, failed.reopen);
  return error;
}

/** Returns what a promise rejects with; fails if it resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => assert.fail(`it must fail, but resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

/** The PublishError that a call ends with. */
export async function publishErrorOf(call: Promise<unknown>): Promise<PublishError> {
  const error = await failureOf(call);
  assert.ok(isJetrowError(error) && error.name === "PublishError", `not a PublishError: ${error}`);
  return error;
}

/** Fails unless an error is the expected PublishError, and its outcomes add up to the rows. */
export function assertFailure(thrown: unknown, rows: number, expected: ExpectedFailure): PublishError {
  assert.ok(thrown instanceof PublishError && isJetrowError(thrown), `no PublishError: ${thrown}`);
  assert.ok([expected.code].flat().includes(thrown.code), `${thrown.code}: ${thrown.message}`);
  assert.equal(thrown.name, "PublishError");
  const { counts } = thrown.rowOutcomes;
  assertOutcomes(thrown, rows);
  if (expected.outcome !== undefined) assert.equal(thrown.outcome, expected.outcome, thrown.message);
  if (expected.serverCode !== undefined) assert.equal(thrown.serverCode, expected.serverCode);
  if (expected.row !== undefined) assert.equal(thrown.row, expected.row);
  for (const [word, count] of Object.entries(expected.counts ?? {})) {
    assert.equal(counts[word as RowOutcome], count, `${word}: ${thrown.message}`);
  }
  return thrown;
}

/** Fails unless the outcomes of an error are those of `rows` rows and agree with each other. */
export function assertOutcomes({ outcome, rowOutcomes, message }: PublishError, rows: number): void {
  const { counts } = rowOutcomes;
  const seen: Record<RowOutcome, number> = { acked: 0, duplicate: 0, rejected: 0, unknown: 0, unsent: 0 };
  const unsettled: number[] = [];
  for (let row = 0; row < rows; row++) {
    const word = rowOutcomes.at(row);
    seen[word]++;
    if (word !== "acked" && word !== "duplicate") unsettled.push(row);
  }
  assert.deepEqual({ ...counts }, seen, message);
  assert.deepEqual(rowOutcomes.unsettled(), unsettled);
  assert.throws(() => rowOutcomes.at(rows), RangeError);
  const sent = counts.unsent < rows;
  const right = counts.unknown > 0 ? "uncertain" : sent ? "partial" : outcome;
  assert.equal(outcome, right, message);
  if (outcome === "none") assert.equal(counts.unsent, rows, message);
}

/** Fails unless the stream holds what the outcomes say: acked rows once, unsent and rejected ones never. */
export function assertAgreement(error: PublishError, rows: number, stored: readonly number[], kept = true): void {
  const times = timesOf(stored);
  for (let row = 0; row < rows; row++) {
    const count = times.get(row) ?? 0;
    const word = error.rowOutcomes.at(row);
    const acked = kept ? [1] : [0, 1];
    const right = { acked, duplicate: acked, rejected: [0], unsent: [0], unknown: [0, 1] }[word];
    assert.ok(right.includes(count), `row ${row} is ${word} and stored ${count} times`);
  }
}

/** Fails unless each row from 0 is stored once, and nothing else is stored. */
export function assertWhole(stored: readonly number[], rows: number): void {
  const times = timesOf(stored);
  for (let row = 0; row < rows; row++) assert.equal(times.get(row) ?? 0, 1, `row ${row} is stored ${times.get(row)}`);
  assert.equal(stored.length, rows);
}

function timesOf(stored: readonly number[]): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const row of stored) times.set(row, (times.get(row) ?? 0) + 1);
  return times;
}

async function assertQuiet(failed: Failed, error: PublishError): Promise<void> {
  const { publisher, rows, batch } = failed;
  const before = { stats: publisher.stats(), counts: { ...error.rowOutcomes.counts } };
  assert.equal(before.stats.inFlight, 0);
  assert.equal(before.stats.inFlightBytes, 0);
  const stored = await failed.stored();
  await failed.answerLate();
  assert.deepEqual(publisher.stats(), before.stats);
  assert.deepEqual({ ...error.rowOutcomes.counts }, before.counts);
  assertOutcomes(error, rows);
  assert.equal(await failureOf(publisher.publish(batch)), error, "later calls throw the same error");
  assert.deepEqual([...await failed.stored()].sort(), [...stored].sort(), "nothing is sent later");
}

/**
 * Publishes the unsettled rows by a new publisher: with ids each row is stored once, without ids unknown rows may be
 * stored twice.
 */
async function assertReplay(failed: Failed, error: PublishError, reopen: () => Promise<Publisher>): Promise<void> {
  const publisher = await reopen();
  const only = error.rowOutcomes.unsettled();
  const receipt = await publisher.publish({ ...failed.batch, only });
  await publisher.close();
  assert.equal(receipt.rows, only.length);
  const stored = await failed.stored();
  if (failed.kept === false) {
    return assert.ok(only.every((row) => stored.includes(row)), "the unsettled rows are stored");
  }
  if (error.rowOutcomes.counts.unknown === 0 || hasIds(failed.batch)) return assertWhole(stored, failed.rows);
  const unique = new Set(stored);
  assert.equal(unique.size, failed.rows, "every row is stored at least once");
}

function hasIds({ rows }: RowBatch): boolean {
  return rows.schema.fields.some(({ name }) => name === "_filament_event_id");
}
