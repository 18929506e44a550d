/**
 * The last check of a run, an epoch or a sequence, before its totals are given: its streams still are what they were.
 *
 * @module
 */

import { PublishError } from "../errors/mod.ts";
import type { Destinations } from "../stream/destination.ts";
import { rowOutcomes } from "./outcomes.ts";

/**
 * Returns a PublishError `publish.stream_changed` if a stream was deleted since rows were published to it. A lookup
 * without an answer proves nothing: then the acknowledgments stand.
 */
export async function changedStream(destinations: Destinations): Promise<PublishError | undefined> {
  const stream = await destinations.takeLostStream();
  if (stream === undefined) return undefined;
  return new PublishError(
    "publish.stream_changed",
    `Cannot confirm the rows of stream "${stream}": the stream was deleted while rows were published, and rows that it ` +
      `acknowledged went with it. Publish all rows again.`,
    {
      outcome: "uncertain",
      rowOutcomes: rowOutcomes(new Uint8Array(0)),
      batch: 0,
      row: undefined,
      serverCode: undefined,
    },
  );
}
