/**
 * What JetStream says of the account.
 *
 * @module
 */

import type { JetStreamAccountStats } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { type ApiOptions, apiRequest, isApiFailure, unexpectedFailure } from "./api.ts";

/**
 * The account's usage and limits (`$JS.API.INFO`). Throws a ConnectionError where they cannot be had.
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * const answer = { type: "io.nats.jetstream.api.v1.account_info_response", streams: 3, limits: {} };
 * const data = new TextEncoder().encode(JSON.stringify(answer));
 * const nc = { request: () => Promise.resolve({ data }), closed: () => new Promise(() => {}) };
 * assert.equal((await accountOf(nc as unknown as NatsConnection, {})).streams, 3);
 * ```
 */
export async function accountOf(nc: NatsConnection, options: ApiOptions): Promise<JetStreamAccountStats> {
  const answer = await apiRequest<JetStreamAccountStats>(nc, "INFO", "account_info_response", undefined, options);
  if (isApiFailure(answer)) throw unexpectedFailure("read the account", answer);
  return answer;
}
