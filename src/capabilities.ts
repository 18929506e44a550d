/**
 * What jetrow is able to do, for hosts that choose among sinks.
 *
 * @module
 */

/**
 * The shape of {@linkcode capabilities}.
 *
 * @example
 * ```ts
 * import { capabilities, type SinkCapabilities } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const canReplace = ({ mode }: SinkCapabilities) => mode !== "append";
 * assert.equal(canReplace(capabilities), false);
 * ```
 */
export interface SinkCapabilities {
  /** Rows are only ever added: no replace, upsert, merge or deletion. */
  readonly mode: "append";
  /** What bounded runs may carry. */
  readonly boundedIngestion: readonly ["full_append", "incremental_append", "cdc_append"];
  /** What sessions may carry. */
  readonly continuousInputs: readonly ["rows", "messages", "change_events"];
  /** Whether a batch can become visible as one: with `publishMode: "atomic"`. */
  readonly atomicBatches: "optional";
  /** Whether an epoch becomes visible as one. */
  readonly atomicEpochs: false;
  /** Whether the server keeps an older owner from writing. */
  readonly ownerFencing: false;
  /** Whether readers can tell epochs apart. */
  readonly isolatedEpochs: false;
  /** Whether the server bounds what an interrupted attempt may still cause. */
  readonly boundedResidualEffects: false;
}

/**
 * What jetrow is able to do; frozen.
 *
 * @example
 * ```ts
 * import { capabilities } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * assert.ok(capabilities.mode === "append" && !capabilities.ownerFencing);
 * ```
 */
export const capabilities: SinkCapabilities = Object.freeze({
  mode: "append",
  boundedIngestion: Object.freeze(["full_append", "incremental_append", "cdc_append"] as const),
  continuousInputs: Object.freeze(["rows", "messages", "change_events"] as const),
  atomicBatches: "optional",
  atomicEpochs: false,
  ownerFencing: false,
  isolatedEpochs: false,
  boundedResidualEffects: false,
});
