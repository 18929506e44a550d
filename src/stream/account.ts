/**
 * Reads the account's JetStream usage and limits.
 *
 * @module
 */

import type { JetStreamAccountStats } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { type ApiOptions, apiRequest, isApiFailure, unexpectedFailure } from "./api/request.ts";

/** Returns the account's usage and limits (`$JS.API.INFO`). Throws a ConnectionError if they cannot be read. */
export async function accountOf(nc: NatsConnection, options: ApiOptions): Promise<JetStreamAccountStats> {
  const answer = await apiRequest<JetStreamAccountStats>(nc, "INFO", "account_info_response", undefined, options);
  if (isApiFailure(answer)) throw unexpectedFailure("read the account", answer);
  return answer;
}
