/**
 * The error of a connection.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { ConnectionErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/**
 * The server, the network or the credentials are wrong, or an answer is missing: the caller fixes them. No row of the
 * batch was sent. In a sequence (`applyAll`, `publishAll`) earlier batches may be stored; `onReceipt` has been called for
 * them.
 *
 * @example
 * ```ts
 * import { ConnectionError } from "@jetrow/jetrow/errors";
 * import { connect } from "@jetrow/jetrow/deno";
 * import assert from "node:assert/strict";
 *
 * try {
 *   await connect({ url: "nats://127.0.0.1:1" });
 * } catch (error) {
 *   assert.ok(error instanceof ConnectionError && error.code === "connection.refused");
 * }
 * ```
 */
export class ConnectionError extends JetrowError {
  /** Always `"ConnectionError"`. */
  override readonly name = "ConnectionError" as const;
  /** What is wrong with the connection. */
  override readonly code: ConnectionErrorCode;

  /** @internal */
  constructor(code: ConnectionErrorCode, message: string | Wording, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}
