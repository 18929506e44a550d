/**
 * Checks inputs before anything is created on a server or sent.
 *
 * @module
 */

import { pieceRanges, resolveLimits } from "../../arrow/slice.ts";
import { isJetrowError } from "../../errors/mod.ts";
import { withBatch } from "../../errors/encode.ts";
import { prepareRows } from "../../message/prepare.ts";
import { resolveOptions } from "../../options/publisher.ts";
import { type BatchSource, openBatch } from "../../publish/prepare_batch.ts";
import type { ArrowBatch } from "../../types/mod.ts";
import { inOrder } from "../../util/in_order.ts";
import { bytesOf, nameOf, untilAborted } from "../bytes.ts";
import { type Input, openPath, openPipe, type OpenSource } from "../input/open.ts";
import type { CliIo } from "../io.ts";
import { targetOf } from "../route.ts";
import type { PublishPlan } from "./options.ts";

/** How many inputs are opened at a time: a process may have few file descriptors. */
const AT_A_TIME = 8;

/** Opens every input, so that a mistyped name or a truncated file is found before a row of any input is sent. */
export async function openSources(plan: PublishPlan, io: CliIo): Promise<OpenSource[]> {
  const sources: OpenSource[] = [];
  const open = async ({ file, resource }: PublishPlan["sources"][number]): Promise<OpenSource> => ({
    input: file === "-" ? openPipe(bytesOf(file, io), nameOf(file)) : await openPath(file),
    resource,
  });
  for await (const source of untilAborted(inOrder(plan.sources, AT_A_TIME, open), io.signal)) sources.push(source);
  return sources;
}

/**
 * Reads the first batch of every input, and encodes the first piece of the run. Throws what publishing would throw.
 * Returns the inputs; an input that can be read only once yields the batch that was read first.
 */
export async function checkSources(
  plan: PublishPlan,
  sources: readonly OpenSource[],
  signal: AbortSignal,
): Promise<OpenSource[]> {
  const { operation } = plan;
  const settings = resolveOptions(plan.config);
  const checked: OpenSource[] = [];
  let isFirst = true;
  for (const { input, resource } of sources) {
    if (input.rows === 0) {
      checked.push({ input, resource });
      continue;
    }
    const batches = untilAborted(input.batches(), signal);
    const { value: batch } = await batches.next();
    if (batch !== undefined) {
      nameBatch(input.name, () => {
        const source = openBatch({ resource, rows: batch, ...(operation && { operations: operation }) }, settings);
        if (isFirst) encodeFirstPiece(plan, source);
      });
    }
    const canReread = input.size !== undefined && !(isFirst && batch !== undefined);
    if (canReread) await batches.return(undefined);
    checked.push({ input: canReread ? input : continueInput(input, batch, batches), resource });
    isFirst &&= batch === undefined;
  }
  return checked;
}

function encodeFirstPiece({ config, limits }: PublishPlan, source: BatchSource): void {
  const [piece] = pieceRanges(source.view, resolveLimits(limits), source.only);
  if (piece !== undefined) prepareRows(source, piece, targetOf(resolveOptions(config), source.resource), true);
}

/** Adds the input's name to an error of its data. */
function nameBatch(name: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw isJetrowError(error) && error.name === "EncodeError" ? withBatch(error, 0, `batch 0 of ${name}`) : error;
  }
}

/** An input whose first batch was read: it yields that batch first, and then releases it. */
function continueInput(input: Input, first: ArrowBatch | undefined, rest: AsyncGenerator<ArrowBatch>): Input {
  const held = first === undefined ? [] : [first];
  return {
    ...input,
    async *batches(): AsyncGenerator<ArrowBatch> {
      try {
        for (let batch = held.pop(); batch !== undefined; batch = held.pop()) yield batch;
        yield* rest;
      } finally {
        await rest.return(undefined);
      }
    },
  };
}
