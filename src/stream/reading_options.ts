/**
 * The options of functions that only ask the server.
 *
 * @module
 */

import { OPTION_KEYS } from "../options/publisher.ts";
import { applyRules, fieldsOf } from "../options/fields.ts";
import { domainName, inboxPrefix } from "../options/templates.ts";
import { abortSignal } from "../options/values.ts";
import type { SinkConfig } from "../types/mod.ts";
import type { ApiOptions } from "./api/request.ts";

/**
 * What functions that only ask the server take: a whole SinkConfig will do.
 *
 * @example
 * ```ts
 * import type { ReadingOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: ReadingOptions = { domain: "hub", signal: AbortSignal.timeout(60_000) };
 * assert.equal(options.signal?.aborted, false);
 * ```
 */
export interface ReadingOptions extends Partial<SinkConfig> {
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const TABLE = {
  domain: { rule: domainName },
  inboxPrefix: { rule: inboxPrefix },
  signal: { rule: abortSignal },
} as const;

/** Checks the options and takes those that concern requests; a key that no SinkConfig has is refused. */
export function resolveReading(options: ReadingOptions): ApiOptions {
  const fields = fieldsOf(options, [...OPTION_KEYS.camel, "signal"], { field: "", spelling: "camel" });
  return applyRules<{ domain: string; inboxPrefix: string; signal: AbortSignal }>(fields, TABLE);
}
