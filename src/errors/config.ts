/**
 * The error of options.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { ConfigErrorCode } from "./codes.ts";

/**
 * Details of a {@linkcode ConfigError}.
 *
 * @example
 * ```ts
 * import { ConfigError, type ConfigErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: ConfigErrorDetails = { field: "maxInFlight" };
 * const error = new ConfigError("config.range", "maxInFlight must be 1 to 65536: received 0", details);
 * assert.equal(error.field, "maxInFlight");
 * ```
 */
export interface ConfigErrorDetails {
  /** The option as the caller wrote it: snake_case from a document, camelCase from options. */
  readonly field: string;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * The options or a call's arguments are wrong: the caller fixes them. Wrong options are found before anything is
 * dialled, looked up or sent; what is wrong with a batch (`only`, a misspelt key) before anything of it is sent.
 *
 * @example
 * ```ts
 * import { ConfigError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new ConfigError("config.missing", "stream is required", { field: "stream" });
 * assert.ok(error.field === "stream");
 * ```
 */
export class ConfigError extends JetrowError {
  /** Always `"ConfigError"`. */
  override readonly name = "ConfigError" as const;
  /** What is wrong with the option. */
  override readonly code: ConfigErrorCode;
  /** The option as the caller wrote it. */
  readonly field: string;

  /** Makes the error of one option. */
  constructor(code: ConfigErrorCode, message: string, details: ConfigErrorDetails) {
    super(message, details);
    this.code = code;
    this.field = details.field;
  }
}
