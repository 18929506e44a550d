/**
 * The error of destinations.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { RouteErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/**
 * Details of a {@linkcode RouteError}: which of the three are known at that point.
 *
 * @example
 * ```ts
 * import { RouteError, type RouteErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: RouteErrorDetails = { stream: "ORDERS", subject: "orders.eu" };
 * assert.equal(new RouteError("route.not_captured", "ORDERS does not capture orders.eu", details).stream, "ORDERS");
 * ```
 */
export interface RouteErrorDetails {
  /** The destination resource. */
  readonly resource?: string | undefined;
  /** The stream's name. */
  readonly stream?: string | undefined;
  /** The subject, or the filter that was asked for. */
  readonly subject?: string | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * A resource cannot be published where the options send it: the caller fixes the mapping or the stream. No row of the
 * batch was sent; of a sequence (`applyAll`, `publishAll`), none of the piece: earlier pieces are stored, and
 * `onReceipt` was told. Where one of them failed besides, the error is a PublishError with this one as its cause.
 *
 * @example
 * ```ts
 * import { assertSubject } from "@jetrow/jetrow/subject";
 * import { RouteError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * try {
 *   assertSubject("orders.*");
 * } catch (error) {
 *   assert.ok(error instanceof RouteError && error.code === "route.subject");
 * }
 * ```
 */
export class RouteError extends JetrowError {
  /** Always `"RouteError"`. */
  override readonly name = "RouteError" as const;
  /** What is wrong with the destination. */
  override readonly code: RouteErrorCode;
  /** The destination resource, where one is concerned. */
  readonly resource: string | undefined;
  /** The stream, where one is concerned. */
  readonly stream: string | undefined;
  /** The subject or filter, where one is concerned. */
  readonly subject: string | undefined;

  /** @internal */
  constructor(code: RouteErrorCode, message: string | Wording, details: RouteErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.resource = details.resource;
    this.stream = details.stream;
    this.subject = details.subject;
  }
}
