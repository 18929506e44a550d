/**
 * The error of connections.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { ConnectionErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/**
 * The server, the network or the credentials are wrong, or an answer did not come. No row of the batch was sent; of a
 * sequence (`applyAll`, `publishAll`), earlier batches may be stored: `onReceipt` was told which.
 *
 * @example
 * ```ts
 * import { ConnectionError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new ConnectionError("connection.refused", "Cannot connect to nats://localhost:1: connection refused");
 * assert.ok(error.code === "connection.refused");
 * ```
 */
export class ConnectionError extends JetrowError {
  /** Always `"ConnectionError"`. */
  override readonly name = "ConnectionError" as const;
  /** What stood in the way. */
  override readonly code: ConnectionErrorCode;

  /** @internal */
  constructor(code: ConnectionErrorCode, message: string | Wording, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}
