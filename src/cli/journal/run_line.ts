/**
 * What a journal says of a run.
 *
 * @module
 */

import { resolveLimits } from "../../arrow/slice.ts";
import { resolveOptions } from "../../options/publisher.ts";
import { expandTemplate } from "../../subject/template.ts";
import type { OpenSource } from "../input/open.ts";
import type { RunLine } from "./line.ts";
import { VERSION_OF_JOURNAL } from "./state.ts";
import type { PublishPlan } from "../publish/options.ts";
import { VERSION } from "../version.ts";

/** The line that a run begins with: all that decides which rows there are, what their ids are, and where they go. */
export function runLine({ config, limits, operation }: PublishPlan, sources: readonly OpenSource[]): RunLine {
  const { stream, subject, namespace, eventIdColumn, publishMode } = resolveOptions(config);
  const { batchMaxRows, batchMaxBytes } = resolveLimits(limits);
  return {
    kind: "run",
    journal: VERSION_OF_JOURNAL,
    time: new Date().toISOString(),
    jetrow: VERSION,
    inputs: sources.map(({ input, resource }) => ({
      file: input.name,
      size: input.size ?? null,
      resource,
      stream: expandTemplate(stream, resource),
      subject: expandTemplate(subject, resource),
    })),
    options: {
      operation,
      "event-id-column": eventIdColumn,
      tenant: namespace.tenant,
      pipeline: namespace.pipeline,
      "sink-connection": namespace.sinkConnection,
      "publish-mode": publishMode,
      "batch-rows": batchMaxRows,
      "batch-bytes": batchMaxBytes,
    },
  };
}
