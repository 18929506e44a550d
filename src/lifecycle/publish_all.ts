/**
 * Publishes a sequence of batches across lost connections.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type AnyJetrowError, isJetrowError } from "../errors/mod.ts";
import { resolveOptions } from "../options/publisher.ts";
import { PublisherCore } from "../publish/core.ts";
import { streamChangedError } from "../publish/failure.ts";
import { verdictOf } from "../publish/rejection.ts";
import { UsedStreams } from "../stream/used_streams.ts";
import type { ApplyAllOptions, Batches, Options, RunReceipt, WriteReceipt } from "../types/mod.ts";
import { resolvePublishAll, type SequenceSettings } from "../options/calls.ts";
import type { PieceLog } from "./sequence/piece_log.ts";
import { SequenceRunner } from "./sequence/runner.ts";
import { Totals } from "./totals.ts";
import { openUnlessAborted, watchAbort } from "../util/abort.ts";

/**
 * The options of {@linkcode publishAll}.
 *
 * @example
 * ```ts
 * import type { PublishAllOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const limits: PublishAllOptions = { budget: "5m", batchMaxRows: 1000 };
 * assert.equal(limits.budget, "5m");
 * ```
 */
export interface PublishAllOptions extends ApplyAllOptions {
  /** Gives up after this time without an acknowledged row: milliseconds, or a Go duration string. */
  readonly budget: number | string;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

/**
 * Publishes a sequence of batches across lost connections. Dials, publishes piece by piece, and dials again (after 0.1 s,
 * doubling to 5 s) after a lost connection, a lookup without an answer, or a failure that a later attempt may not have.
 * Then it sends the rows that are not acknowledged, until `budget` has passed without an acknowledged row; the time that
 * the source takes for a batch does not count. Resolves with the totals of all attempts. A piece that took several
 * attempts has one receipt.
 *
 * A row that may be stored is sent again only if it has an id, and less time has passed since it was first sent than the
 * stream's duplicate window less `publishTimeout`. Otherwise, and for errors that no attempt can fix (options, mapping,
 * data, permanent refusals), it throws the error of the last attempt with the row outcomes of all attempts. Rows that are
 * sent again may be stored after later rows.
 *
 * An EncodeError or a RouteError is thrown before its piece is sent; earlier pieces may be stored, and `onReceipt` has
 * been called for them. If rows of an earlier piece were rejected or unknown, a PublishError is thrown instead, with this
 * error as its `cause`.
 *
 * @example
 * ```ts
 * import { batchesOf, connect, publishAll } from "@jetrow/jetrow/deno";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function load(url: string): Promise<number> {
 *   const config = { url, stream: "ORDERS", subject: "orders.{resource}" };
 *   const rows = [tableFromArrays({ _filament_event_id: ["a", "b"], total: [1, 2] })];
 *   const receipt = await publishAll(() => connect(config), config, batchesOf("eu", rows), { budget: "30s" });
 *   return receipt.rows;
 * }
 * assert.ok(typeof load === "function");
 * ```
 */
export async function publishAll(
  connect: () => Promise<NatsConnection>,
  options: Options,
  batches: Batches,
  limits: PublishAllOptions,
): Promise<RunReceipt> {
  return await publishSequence(connect, options, batches, resolvePublishAll(limits));
}

/** Does what {@linkcode publishAll} does, and records the pieces in a log. A budget of 0 is one attempt. */
export async function publishSequence(
  connect: () => Promise<NatsConnection>,
  options: Options,
  batches: Batches,
  { budget, ...settings }: SequenceSettings & { readonly budget: number },
  log?: PieceLog,
): Promise<RunReceipt> {
  const { signal } = settings;
  const { publishTimeout } = resolveOptions(options);
  const totals = new Totals();
  const report = async (receipt: WriteReceipt): Promise<void> => {
    totals.add(receipt);
    await settings.onReceipt?.(receipt);
  };
  const runner = new SequenceRunner(batches, settings, report, log);
  const used = new UsedStreams();
  let lastProgress = performance.now();
  for (let pause = FIRST_PAUSE;; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
    const end = await attemptOver(() => openCore(connect, options, used, signal), runner, log);
    if (end.kind === "done") return totals.receipt();
    if (end.ackedAt !== undefined) {
      lastProgress = end.ackedAt;
      pause = FIRST_PAUSE;
    }
    const left = Math.max(lastProgress, runner.takenAt) + budget - performance.now();
    if (left <= 0 || !maySucceedLater(end.error) || !runner.canResume(publishTimeout)) {
      return await runner.fail(end.error);
    }
    if (!await sleep(Math.min(pause, left), signal)) return await runner.fail(signal?.reason);
  }
}

async function openCore(
  connect: () => Promise<NatsConnection>,
  options: Options,
  used: UsedStreams,
  signal: AbortSignal | undefined,
): Promise<PublisherCore> {
  signal?.throwIfAborted();
  return await openUnlessAborted(PublisherCore.open(connect, options, used), signal, (late) => late.close());
}

/** How one publisher ended. `ackedAt` is the time of its last ack, in milliseconds of `performance.now()`. */
type End =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown; readonly ackedAt: number | undefined };

/** Opens a publisher, and continues the sequence over it. */
async function attemptOver(
  open: () => Promise<PublisherCore>,
  runner: SequenceRunner,
  log: PieceLog | undefined,
): Promise<End> {
  let core: PublisherCore;
  try {
    core = await open();
  } catch (error) {
    return { kind: "failed", error, ackedAt: undefined };
  }
  const acks = new AckWatch(core);
  try {
    log?.opened?.(() => core.stats());
    const attempt = await runner.attempt(core);
    if (attempt.kind === "failed") return { kind: "failed", error: attempt.error, ackedAt: acks.last() };
    const error = await streamChangedError(core.destinations);
    return error === undefined ? { kind: "done" } : { kind: "failed", error, ackedAt: acks.last() };
  } finally {
    acks.stop();
    await core.close();
  }
}

/** Notes the time of a publisher's last ack, to a tenth of a second: reading the clock per row would be slow. */
class AckWatch {
  readonly #core: PublisherCore;
  readonly #timer: ReturnType<typeof setInterval>;
  #acked = 0;
  #at: number | undefined;

  constructor(core: PublisherCore) {
    this.#core = core;
    this.#timer = setInterval(() => this.last(), 100);
  }

  /** In milliseconds of `performance.now()`; undefined without an ack. */
  last(): number | undefined {
    const { acked, duplicates } = this.#core.stats();
    if (acked + duplicates > this.#acked) this.#at = performance.now();
    this.#acked = acked + duplicates;
    return this.#at;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Whether another attempt may succeed after this error. */
function maySucceedLater(error: unknown): boolean {
  return isJetrowError(error) ? isTemporary(error) : dialFailures.has((error as Error | undefined)?.name ?? "");
}

/** What a caller's own dial function throws when the client cannot connect; another error is the function's own. */
const dialFailures = new Set(["ConnectionError", "TimeoutError", "AuthorizationError", "ClosedConnectionError"]);

function isTemporary(error: AnyJetrowError): boolean {
  switch (error.name) {
    case "ConnectionError":
      return true;
    case "RouteError":
      return error.code === "route.no_leader"; // a lookup during an election
    case "PublishError":
      if (error.code === "publish.aborted" || error.code === "publish.permission") return false;
      if (error.code === "publish.wrong_stream" || error.code === "publish.internal") return false;
      if (error.code === "publish.stream_changed") return false;
      return error.serverCode === undefined || verdictOf(error.serverCode).retry !== "never";
    default:
      return false;
  }
}

/** Waits. Returns false if the signal has ended the wait. */
async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  return await new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      forget?.();
      resolve(!signal?.aborted);
    };
    const timer = setTimeout(done, milliseconds);
    const forget = signal && watchAbort(signal, done);
    if (signal?.aborted) done();
  });
}
