/** Shared by the tests of atomic and of fast batches. */

import { type Options, Publisher, type PublishError } from "../../mod.ts";
import { assertFailure, type ExpectedFailure, failureOf } from "../_support/failed_publish.ts";
import type { numberBatch } from "../_support/arrow/mod.ts";
import type { FakeConnection } from "../_support/fake/mod.ts";

/** Opens publishers of a mode over scripted connections. */
export type Open = (fake: FakeConnection, options?: Partial<Options>) => Promise<Publisher>;

/** Returns a function that opens publishers of a mode. */
export function opener(publishMode: "atomic" | "fast"): Open {
  const base = { stream: "ORDERS", subject: "orders.{resource}", publishMode };
  return (fake, options) => Publisher.open(fake.nc, { ...base, ...options });
}

/** Publishes rows, asserts that it fails as expected, and returns the error. */
export async function publishFails(
  publisher: Publisher,
  rows: ReturnType<typeof numberBatch>,
  expected: ExpectedFailure,
  signal?: AbortSignal,
): Promise<PublishError> {
  const thrown = await failureOf(publisher.publish({ resource: "eu", rows }, signal === undefined ? {} : { signal }));
  return assertFailure(thrown, rows.numRows, expected);
}

/** Lets microtasks and timers without delay run. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}
