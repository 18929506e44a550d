/**
 * Publishes a sequence of batches over one publisher.
 *
 * @module
 */

import type { PublisherCore } from "../../publish/core.ts";
import type { ApplyAllOptions, Batches, ResourceTotal, WriteReceipt } from "../../types/mod.ts";
import { resolveSequence } from "../../options/calls.ts";
import { SequenceRunner } from "./runner.ts";
import { Totals } from "../totals.ts";
import { linkSignals, unlessAborted } from "../../util/abort.ts";

/**
 * Publishes a sequence to its end, or until the caller's signal or the `owner`'s aborts. `count` is called with each receipt
 * before the caller's `onReceipt` is. An abort of the owner does not wait for `onReceipt`, which may itself wait
 * for that abort.
 */
export async function applyAll(
  core: PublisherCore,
  batches: Batches,
  options: ApplyAllOptions,
  owner: AbortSignal,
  count: (receipt: WriteReceipt) => void,
): Promise<ResourceTotal[]> {
  const settings = resolveSequence(options);
  const { signal, release } = linkSignals(...settings.signal === undefined ? [owner] : [owner, settings.signal]);
  const totals = new Totals();
  const runner = new SequenceRunner(batches, { ...settings, signal }, async (receipt) => {
    totals.add(receipt);
    count(receipt);
    const told = Promise.resolve(settings.onReceipt?.(receipt));
    if (owner.aborted) return void told.catch(() => {});
    await unlessAborted(told, owner).catch((error) => {
      throw error === owner.reason ? signal.reason : error;
    });
  });
  try {
    const attempt = await runner.attempt(core);
    if (attempt.kind === "failed") await runner.fail(attempt.error);
  } finally {
    release();
    core.reportProgress();
  }
  return totals.list();
}
