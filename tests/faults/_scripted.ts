/** Failures over a scripted connection: one publish that fails, and the checks of what it leaves. */

import assert from "node:assert/strict";
import { type Options, Publisher, type PublishError, type RowBatch } from "../../mod.ts";
import { assertFailedPublish, type ExpectedFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  type FakeConnectionOptions,
  type Published,
  StreamModel,
} from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

export const BASE = { stream: "ORDERS", subject: "orders.{resource}" } satisfies Options;

/** A failure: how each message is answered, and what happens meanwhile. */
export interface Fault {
  /** Answers a message; `store` stores it and returns the correct acknowledgment. */
  readonly answers?: (published: Published, store: () => Answer) => Answer | readonly Answer[] | undefined;
  /** Called after the publish has begun. */
  readonly act?: (scene: Scene) => void | Promise<void>;
  /** Further options of the publisher. */
  readonly options?: Partial<Options>;
  /** Options of the scripted connection. */
  readonly connection?: FakeConnectionOptions;
  /** Whether the rows have ids. @default {true} */
  readonly ids?: boolean;
  /** The number of rows. @default {20} */
  readonly rows?: number;
  /** What the error must be. */
  readonly expected: ExpectedFailure;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** A publish in progress. */
export interface Scene {
  readonly fake: FakeConnection;
  readonly stream: StreamModel;
  readonly publisher: Publisher;
}

/** The wire, and who owns the connection. */
export interface Staging {
  readonly frames: boolean;
  readonly owned: boolean;
}

/** Both wires, with the publisher's own connection and with the caller's. */
export const STAGINGS: readonly Staging[] = [false, true].flatMap((frames) =>
  [false, true].map((owned) => ({ frames, owned }))
);

/** Registers a test of a failure for each staging. */
export function testFault(name: string, fault: () => Fault, stagings = STAGINGS): void {
  for (const staging of stagings) {
    const how = `${staging.frames ? "frames" : "publish"}, ${staging.owned ? "own" : "caller's"} connection`;
    Deno.test(`publish() ${name} (${how})`, onVirtualClock(async () => void await playFault(fault(), staging)));
  }
}

/** Runs a failure and all checks of what it leaves. */
export async function playFault(fault: Fault, { frames, owned }: Staging): Promise<PublishError> {
  const stream = new StreamModel();
  const { rows = 20, ids = true, answers = (_, store) => store() } = fault;
  const fake = fakeConnection({
    ...fault.connection,
    frames,
    answers: (published) => answers(published, () => stream.store(published)),
  });
  const options: Options = { ...BASE, ...fault.options };
  const publisher = await Publisher.open(owned ? () => Promise.resolve(fake.nc) : fake.nc, options);
  const batch: RowBatch = { resource: "eu", rows: ids ? idBatch(rows) : numberBatch(rows) };
  const failing = failureOf(publisher.publish(batch, fault.signal === undefined ? {} : { signal: fault.signal }));
  await fault.act?.({ fake, stream, publisher });
  const error = await failing;
  return await assertFailedPublish({
    error,
    expected: fault.expected,
    batch,
    rows,
    publisher,
    stored: () => Promise.resolve(stream.rows),
    assertReleased: () => Promise.resolve(assertReleased(fake, owned)),
    answerLate: () => Promise.resolve(answerLate(fake)),
    reopen: () => Publisher.open(fakeOver(stream, frames).nc, options),
  });
}

/** A connection to a stream that stores and acknowledges everything. */
export function fakeOver(stream: StreamModel, frames: boolean): FakeConnection {
  return fakeConnection({ frames, stream: stream.name, answers: (published) => stream.store(published) });
}

/** Fails unless the inbox is unsubscribed, and the connection is closed exactly if it is the publisher's own. */
export function assertReleased(fake: FakeConnection, owned: boolean): void {
  assert.deepEqual(fake.subscribed, []);
  const closes = fake.calls.filter((call) => call === "close").length;
  assert.equal(closes, owned ? 1 : 0, "only a dialled connection is closed");
}

/** Answers all messages again, after the end of the subscription. */
export function answerLate(fake: FakeConnection): void {
  const before = fake.calls.length;
  for (const published of fake.published) {
    fake.answer(published, { body: { stream: "ORDERS", seq: published.index + 1000 }, late: true });
  }
  fake.deliver();
  assert.equal(fake.calls.length, before, "a late answer leads to nothing");
}

/** Waits until `count` messages have reached the server. */
export async function reached(fake: { readonly published: readonly unknown[] }, count: number): Promise<void> {
  while (fake.published.length < count) await new Promise((resolve) => setTimeout(resolve, 0));
}
