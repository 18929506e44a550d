/**
 * Publishes a sequence of batches over one publisher.
 *
 * @module
 */

import type { PublisherCore } from "../publish/core.ts";
import type { ApplyAllOptions, Batches, ResourceTotal, WriteReceipt } from "../types.ts";
import { SequenceRunner } from "./sequence.ts";
import { Totals } from "./totals.ts";

/** Publishes a sequence to its end. `count` is told each receipt before the caller's `onReceipt` is. */
export async function applyAll(
  core: PublisherCore,
  batches: Batches,
  options: ApplyAllOptions,
  count: (receipt: WriteReceipt) => void,
): Promise<ResourceTotal[]> {
  const totals = new Totals();
  const runner = new SequenceRunner(batches, options, async (receipt) => {
    totals.add(receipt);
    count(receipt);
    await options.onReceipt?.(receipt);
  });
  try {
    await runner.run(core);
  } catch (error) {
    await runner.settle().catch(() => {}); // what the listener throws meanwhile, the runner keeps
    throw await runner.close(error);
  }
  return totals.list();
}
