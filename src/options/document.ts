/**
 * The JSON form of the options.
 *
 * @module
 */

import { checkConnectionFields } from "./connection.ts";
import { checkPublisher, OPTION_KEYS } from "./publisher.ts";
import { fieldsOf } from "./fields.ts";
import { withSecrets } from "./secrets.ts";
import type { SinkConfig } from "../types/mod.ts";

/**
 * Checks a JSON document and gives typed options: keys in snake_case become camelCase, `tenant`, `pipeline` and
 * `sink_connection` become `namespace`. What was not written is not there; the values are as they were written.
 *
 * Every mistake is a {@linkcode ConfigError} with the field as the document spells it. The document is left as it is.
 * The result is frozen. Its credentials (`username`, `password`, `jwt`, `nkeySeed`, `token`, `tls.key`) are readable as
 * properties and nowhere else: printing, `JSON.stringify`, and copying leave them out. So pass the result itself to
 * `connect`: `{ ...config, stream: "OTHER" }` will do for a publisher, but `connect` refuses it for want of
 * credentials.
 *
 * @example
 * ```ts
 * import { parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const config = parseConfig({
 *   url: "nats://localhost:4222",
 *   auth_mode: "token",
 *   token: "s3cret",
 *   stream: "EVENTS",
 *   subject: "events.{resource}",
 *   max_in_flight: 256,
 * });
 * assert.equal(config.maxInFlight, 256);
 * assert.equal(config.token, "s3cret");
 * assert.ok(!JSON.stringify(config).includes("s3cret"));
 * assert.throws(() => parseConfig({ url: "nats://localhost", sream: "EVENTS" }), { code: "config.unknown" });
 * ```
 */
export function parseConfig(document: unknown): SinkConfig {
  const fields = fieldsOf(document, OPTION_KEYS.snake, { field: "", spelling: "snake" });
  const connection = checkConnectionFields(fields);
  const { username, password, jwt, nkeySeed, token } = connection;
  const secrets = Object.entries({ username, password, jwt, nkeySeed, token }).filter(([, value]) =>
    value !== undefined
  );
  return withSecrets({ ...connection, ...checkPublisher(fields) }, Object.fromEntries(secrets));
}
