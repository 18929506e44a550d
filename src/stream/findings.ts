/**
 * From what is known of a destination to what its caller should know: pure, without asking anybody.
 *
 * @module
 */

import type { DestinationFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { KEEPING } from "./keeping.ts";
import { absentStream, REFUSALS } from "./refusals.ts";
import { surroundingFindings } from "./surroundings.ts";

export { type DestinationFacts, type FactSettings, MINIMUM_VERSIONS, type ServerFacts } from "./facts.ts";
export type { Finding, FindingCode, Severity } from "./finding.ts";

/**
 * Every finding of a destination, the refusals first. Opening a publisher refuses exactly those of severity `error`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const found = destinationFindings({
 *   stream: "ORDERS",
 *   info: undefined,
 *   pattern: "orders.*",
 *   sharedByResources: true,
 *   settings: { createStream: true, publishMode: "fast", publishTimeout: 5000 },
 *   server: { version: "2.12.4", apiLevel: 2, maxPayload: 1048576 },
 * });
 * assert.ok(found.some(({ severity, code }) => severity === "error" && code === "stream.batch_flag"));
 * ```
 */
export function destinationFindings(facts: DestinationFacts): readonly Finding[] {
  return [...refusalFindings(facts), ...keepingFindings(facts), ...surroundingFindings(facts)];
}

/**
 * The findings that decide whether a publisher opens, in the order in which they are reported: the cheap half of
 * {@linkcode destinationFindings}. A missing stream that will be created is in it as an info.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const found = refusalFindings({
 *   stream: "ORDERS",
 *   info: undefined,
 *   pattern: "orders.*",
 *   sharedByResources: true,
 *   settings: { createStream: false, publishMode: "individual", publishTimeout: 5000 },
 *   server: { version: "2.15.2", maxPayload: 1048576 },
 * });
 * assert.ok(found[0]?.code === "stream.missing" && found[0].severity === "error");
 * ```
 */
export function refusalFindings(facts: DestinationFacts): readonly Finding[] {
  const { info } = facts;
  if (info === undefined) return absentStream(facts);
  return REFUSALS.map((check) => check({ ...facts, info })).filter((finding) => finding !== undefined);
}

function keepingFindings(facts: DestinationFacts): readonly Finding[] {
  const { info } = facts;
  if (info === undefined) return [];
  return KEEPING.map((check) => check({ ...facts, info })).filter((finding) => finding !== undefined);
}
