/**
 * The public publisher.
 *
 * @module
 */

import type { JetrowError } from "../errors/mod.ts";
import type { CallOptions, Dial, Options, PublisherStats, RowBatch, WriteReceipt } from "../types/mod.ts";
import { resolveCall } from "../options/calls.ts";
import { PublisherCore } from "./core.ts";

/**
 * Publishes batches over one connection. For callers that manage its lifecycle; others use `openRun` or `openSession`.
 *
 * Rows go out in row order, calls in call order. A call resolves when the server has acknowledged every one of its
 * rows. The first row that fails ends the publisher: every call in progress rejects with a PublishError that says what
 * is known of each row, and later calls throw the same error. Config, route and encode errors are thrown before any row
 * of their batch is sent, and do not end the publisher.
 *
 * @example
 * ```ts
 * import { connect, Publisher } from "@jetrow/jetrow/deno";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function publishOrders(url: string): Promise<number> {
 *   const config = { url, stream: "ORDERS", subject: "orders.{resource}" };
 *   const publisher = await Publisher.open(() => connect(config), config);
 *   try {
 *     const receipt = await publisher.publish({ resource: "eu", rows: tableFromArrays({ id: [1, 2, 3] }) });
 *     return receipt.rows;
 *   } finally {
 *     await publisher.close();
 *   }
 * }
 * assert.ok(typeof publishOrders === "function");
 * ```
 */
export class Publisher {
  readonly #core: PublisherCore;

  private constructor(core: PublisherCore) {
    this.#core = core;
  }

  /**
   * Opens a publisher over the caller's connection, or over one that `to` dials and the publisher closes. Looks up a
   * stream that all resources share, creates it if it is missing, and checks it.
   *
   * @throws {ConfigError | ConnectionError | RouteError} Closes the connection if `to` has dialled it.
   */
  static async open(to: Dial, options: Options): Promise<Publisher> {
    return new Publisher(await PublisherCore.open(to, options));
  }

  /**
   * Publishes one batch. Resolves with its receipt when every row is acknowledged.
   *
   * Throws a ConfigError, RouteError, ConnectionError (the lookup of a stream) or EncodeError before anything is sent,
   * a PublishError afterwards, and a StateError if the publisher is closed. An abort by `options.signal` ends the call
   * with `publish.aborted`. If rows of the call were sent, it also ends a publisher that owns its connection.
   */
  async publish(batch: RowBatch, options: CallOptions = {}): Promise<WriteReceipt> {
    return await this.#core.publish(batch, resolveCall(options).signal);
  }

  /** Returns the current state of the publisher. */
  stats(): PublisherStats {
    return this.#core.stats();
  }

  /**
   * Refuses new calls, waits for those in progress, and closes the connection if the publisher owns it. Repeatable.
   */
  close(): Promise<void> {
    return this.#core.close();
  }

  /**
   * Resolves when the publisher has ended: with the PublishError that ended it, or with undefined after
   * {@linkcode close}. Never rejects.
   *
   * @example
   * ```ts
   * import type { Publisher } from "@jetrow/jetrow";
   * import assert from "node:assert/strict";
   *
   * async function reopenAfterFailure(publisher: Publisher, open: () => Promise<Publisher>): Promise<Publisher | undefined> {
   *   const error = await publisher.closed();
   *   return error === undefined ? undefined : await open();
   * }
   * assert.ok(typeof reopenAfterFailure === "function");
   * ```
   */
  closed(): Promise<void | JetrowError> {
    return this.#core.closed();
  }

  /** Closes the publisher at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core.close();
  }
}
