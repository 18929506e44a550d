/**
 * The error of a destination.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { RouteErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/** The parts of a {@linkcode RouteError} that are known. */
export interface RouteErrorDetails {
  /** The destination resource. */
  readonly resource?: string | undefined;
  /** The stream's name. */
  readonly stream?: string | undefined;
  /** The subject, or the filter of a created stream. */
  readonly subject?: string | undefined;
  /** The row's number in the batch as the caller passed it. */
  readonly row?: number | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * A resource cannot be published to its destination: the caller fixes the mapping or the stream. No row of the batch was
 * sent. In a sequence (`applyAll`, `publishAll`) no row of the piece was sent; earlier pieces may be stored, and
 * `onReceipt` has been called for them. If rows of an earlier piece also failed, the call throws a PublishError whose
 * `cause` is this error.
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
  /** The destination resource, if the error is about one. */
  readonly resource: string | undefined;
  /** The stream, if the error is about one. */
  readonly stream: string | undefined;
  /** The subject or filter, if the error is about one. */
  readonly subject: string | undefined;

  /** The row's number in the batch, if the error is about one row. */
  readonly row: number | undefined;

  /** @internal */
  constructor(code: RouteErrorCode, message: string | Wording, details: RouteErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.resource = details.resource;
    this.stream = details.stream;
    this.subject = details.subject;
    this.row = details.row;
  }
}
