/**
 * Derives the findings of a destination from its facts, without any request.
 *
 * @module
 */

import type { DestinationFacts } from "./facts.ts";
import type { DraftFinding } from "./finding.ts";
import { KEEPING } from "./retention.ts";
import { absentStream, REFUSALS } from "./refusals.ts";
import { serverFindings } from "./server.ts";

export { type DestinationFacts, type FactSettings, type ServerFacts } from "./facts.ts";

/**
 * Returns every finding of a destination, the refusals first. Opening a publisher refuses exactly those of severity
 * `error`.
 */
export function destinationFindings(facts: DestinationFacts): readonly DraftFinding[] {
  return [...refusalFindings(facts), ...retentionFindings(facts), ...serverFindings(facts)];
}

/**
 * The findings that decide whether a publisher opens, in the order in which they are reported: the cheap half of
 * {@linkcode destinationFindings}. A missing stream that will be created is in it as an info.
 */
export function refusalFindings(facts: DestinationFacts): readonly DraftFinding[] {
  const { info } = facts;
  if (info === undefined) return absentStream(facts);
  return REFUSALS.map((check) => check({ ...facts, info })).filter((finding) => finding !== undefined);
}

function retentionFindings(facts: DestinationFacts): readonly DraftFinding[] {
  const { info } = facts;
  if (info === undefined) return [];
  return KEEPING.map((check) => check({ ...facts, info })).filter((finding) => finding !== undefined);
}
