/**
 * Publishes a sequence of batches across lost connections.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type AnyJetrowError, isJetrowError } from "../errors/mod.ts";
import { resolveOptions } from "../options/publisher.ts";
import { PublisherCore } from "../publish/core.ts";
import { verdictOf } from "../publish/verdict.ts";
import type { ApplyAllOptions, Batches, Options, RunReceipt } from "../types/mod.ts";
import { resolvePublishAll, type SequenceSettings } from "./call_options.ts";
import { SequenceRunner } from "./sequence/runner.ts";
import { Totals } from "./totals.ts";
import { watchAbort } from "../util/abort.ts";
import { openUnlessAborted } from "../util/unless_aborted.ts";

/**
 * Options of {@linkcode publishAll}.
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
  /** How long to go on without a row acknowledged: milliseconds, or a Go duration text. */
  readonly budget: number | string;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

/**
 * Publishes a sequence of batches, for callers without a supervisor of their own. It dials, publishes piece by piece,
 * and after a lost connection, a lookup without an answer or a failure that a later attempt can mend dials again (after
 * 0.1 s, doubling to 5 s) and sends the rows that are not acknowledged, until `budget` has passed without a row
 * acknowledged (time that the source takes for a batch does not count). Resolves with the totals of all attempts; a
 * piece that took several has one receipt.
 *
 * Rows of unknown fate are sent again only when they carry an id and less time has passed since they were first sent
 * than the stream's duplicate window less `publishTimeout`. Otherwise, and for what no attempt can mend (options,
 * mapping, data, refusals that are permanent), it throws the error of the last attempt, whose row outcomes are those of
 * all attempts. Rows that are sent again may be stored after later ones.
 *
 * An EncodeError or RouteError comes before its piece is sent, when earlier pieces may be stored: `onReceipt` was told
 * which. Where rows of one were rejected or are of unknown fate, it is the cause of a PublishError that says so.
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
  const { publishTimeout } = resolveOptions(options);
  const { budget, ...settings } = resolvePublishAll(limits);
  const totals = new Totals();
  const runner = new SequenceRunner(batches, settings, async (receipt) => {
    totals.add(receipt);
    await settings.onReceipt?.(receipt);
  });
  let lastProgress = performance.now();
  let lastError: unknown;
  for (let pause = FIRST_PAUSE;; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
    const attempt = await runAttempt(connect, options, runner, settings);
    if (attempt.kind === "done") return totals.receipt();
    if (attempt.kind === "late") throw await runner.close(lastError);
    lastError = attempt.error;
    if (attempt.ackedAt !== undefined) {
      lastProgress = attempt.ackedAt;
      pause = FIRST_PAUSE;
    }
    const left = Math.max(lastProgress, runner.takenAt) + budget - performance.now();
    const again = attempt.kind === "failed" && left > 0 && runner.whyNotAgain(publishTimeout) === undefined;
    if (!again) throw await runner.close(lastError);
    if (!await sleep(Math.min(pause, left), settings.signal)) throw await runner.close(settings.signal?.reason);
  }
}

/**
 * How an attempt ended: `stopped` is for good; `late`: rows of unknown fate may not go again any more. `ackedAt` is when
 * it had a row acknowledged last, in milliseconds of `performance.now()`.
 */
type Attempt =
  | { readonly kind: "done" }
  | { readonly kind: "late" }
  | { readonly kind: "failed" | "stopped"; readonly error: unknown; readonly ackedAt: number | undefined };

async function runAttempt(
  connect: () => Promise<NatsConnection>,
  options: Options,
  runner: SequenceRunner,
  { signal, account }: Pick<SequenceSettings, "signal" | "account">,
): Promise<Attempt> {
  let core: PublisherCore | undefined;
  let acks: AckWatch | undefined;
  try {
    signal?.throwIfAborted();
    const opening = PublisherCore.open(connect, options);
    const opened = core = await openUnlessAborted(opening, signal, (late) => late.close());
    acks = new AckWatch(opened);
    account?.opened?.(() => opened.stats());
    return { kind: await runner.run(core) ? "done" : "late" };
  } catch (error) {
    // What `onReceipt` throws meanwhile is foreign, too.
    await runner.settle().catch(() => {});
    const mendable = !runner.hopeless && !signal?.aborted && canMend(error);
    return { kind: mendable ? "failed" : "stopped", error, ackedAt: acks?.last() };
  } finally {
    acks?.stop();
    await core?.close();
  }
}

/** Tells when a publisher had a row acknowledged last, to a tenth of a second: a clock asked for each row would cost. */
class AckWatch {
  readonly #core: PublisherCore;
  readonly #timer: ReturnType<typeof setInterval>;
  #acked = 0;
  #at: number | undefined;

  constructor(core: PublisherCore) {
    this.#core = core;
    this.#timer = setInterval(() => this.last(), 100);
  }

  /** In milliseconds of `performance.now()`; undefined where none was. */
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

/** Whether another attempt can mend what ended this one. */
function canMend(error: unknown): boolean {
  return isJetrowError(error) ? mends(error) : dialFailures.has((error as Error | undefined)?.name ?? "");
}

/** What a caller's own dial function throws when the client cannot connect; another error is the function's own. */
const dialFailures = new Set(["ConnectionError", "TimeoutError", "AuthorizationError", "ClosedConnectionError"]);

function mends(error: AnyJetrowError): boolean {
  switch (error.name) {
    case "ConnectionError":
      return true;
    case "RouteError":
      return error.code === "route.no_leader"; // a lookup during an election
    case "PublishError":
      if (error.code === "publish.aborted" || error.code === "publish.permission") return false;
      if (error.code === "publish.wrong_stream" || error.code === "publish.internal") return false;
      return error.serverCode === undefined || verdictOf(error.serverCode).again !== "never";
    default:
      return false;
  }
}

/** Waits; false when the signal has ended the wait. */
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
