/**
 * Every call ends, whatever the connection's methods do: each method throws, rejects or never resolves, from its nth
 * call on or at that call alone.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { NatsConnection } from "@nats-io/nats-core";
import { BoundedRun, inspect, openRun, publishAll, Publisher, testConnection, verifyReceipt } from "../../mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";
import { type Asked, fakeConnection, streamInfo } from "../_support/fake/mod.ts";

const METHODS = [
  "publish",
  "sendCommand",
  "subscribe",
  "unsubscribe",
  "request",
  "flush",
  "close",
  "closed",
  "isClosed",
  "isDraining",
  "status",
  "stop",
  "next",
] as const;

/** Methods whose result is used synchronously: they can only throw. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(["sendCommand", "isClosed", "isDraining"]);

interface Fault {
  readonly method: (typeof METHODS)[number];
  readonly call: number;
  readonly on: boolean;
  readonly how: "throws" | "rejects" | "hangs";
}

/** A connection with one failing method; everything else is a scripted connection's. */
function hostile(fault: Fault, frames: boolean): NatsConnection {
  let calls = 0;
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(inner, name) {
        const value = Reflect.get(inner, name, inner) as unknown;
        if (name === "protocol" && value) return wrap(value as object);
        if (typeof value !== "function") {
          return name === "stop" ? (fault.method === "stop" ? () => fail() : undefined) : value;
        }
        return (...args: unknown[]) => {
          if (name === fault.method && strikes()) return fail();
          const result = value.apply(inner, args);
          return name === "subscribe" || name === "status" || name === Symbol.asyncIterator ? wrap(result) : result;
        };
      },
    });
  const strikes = (): boolean => fault.on ? calls++ >= fault.call : calls++ === fault.call;
  const fail = (): unknown => {
    if (fault.how === "throws") throw new Error(`${fault.method} throws`);
    if (fault.how === "rejects") return Promise.reject(new Error(`${fault.method} rejects`));
    return new Promise(() => {});
  };
  const flags = { allow_atomic: true, allow_batched: true };
  const requests = ({ subject }: Asked) => streamInfo(subject.split(".").at(-1)!, flags);
  return wrap(fakeConnection({ frames, requests }).nc);
}

const BASE = { stream: "ORDERS", subject: "orders.{resource}", publishTimeout: 2000 };
const MODES = ["individual", "atomic", "fast"] as const;
const batch = () => ({ resource: "eu", rows: numberBatch(3) });

/** Calls every method of a publisher, and fails unless each call ends. */
async function play(
  fault: Fault,
  frames: boolean,
  owned: boolean,
  publishMode: (typeof MODES)[number],
): Promise<void> {
  const options = { ...BASE, publishMode };
  const nc = hostile(fault, frames);
  const to = owned ? () => Promise.resolve(nc) : nc;
  const within = async <T>(what: string, promise: Promise<T>): Promise<T | Error> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Error>((resolve) => {
      timer = setTimeout(() => resolve(new Error("late")), 60_000);
    });
    const result = await Promise.race([promise.catch((error: Error) => error), late]);
    clearTimeout(timer);
    assert.notEqual((result as Error | undefined)?.message, "late", `${what} never ends: ${JSON.stringify(fault)}`);
    return result;
  };
  const publisher = await within("open", Publisher.open(to, options));
  if (publisher instanceof Publisher) {
    await Promise.all([1, 2].map(() => within("publish", publisher.publish(batch()))));
    publisher.stats();
    await within("publish", publisher.publish(batch()));
    await within("close", publisher.close());
    await within("closed", publisher.closed() as Promise<unknown>);
  }
  const run = await within("openRun", openRun(to, options));
  if (run instanceof BoundedRun) {
    await within("applyAll", run.applyAll([batch(), batch()]));
    await within("abort", run.abort());
  }
  const receipt = { ...BASE, uri: "", resource: "eu", rows: 3, bytes: 21, crc32c: 1, batch: 0, offset: 0 };
  await within("inspect", inspect(nc, BASE));
  await within("testConnection", testConnection(nc));
  await within("verifyReceipt", verifyReceipt(nc, { ...receipt, sequences: [[1, 3]] }));
  await within(
    "publishAll",
    publishAll(() => Promise.resolve(nc), options, [batch()], { budget: 3000 }),
  );
}

Deno.test(
  "every call, close() and closed() end whatever a method of the connection does",
  onVirtualClock(async () => {
    const unhandled: unknown[] = [];
    const note = (event: PromiseRejectionEvent): void => {
      event.preventDefault();
      unhandled.push(event.reason);
    };
    globalThis.addEventListener("unhandledrejection", note);
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.record<Fault>({
            method: fc.constantFrom(...METHODS),
            call: fc.nat({ max: 6 }),
            on: fc.boolean(),
            how: fc.constantFrom("throws", "rejects", "hangs"),
          }).filter(({ method, how }) => how === "throws" || !SYNCHRONOUS.has(method)),
          fc.boolean(),
          fc.boolean(),
          fc.constantFrom(...MODES),
          async (fault, frames, owned, mode) => {
            await play(fault, frames, owned, mode);
            await new Promise((resolve) => setTimeout(resolve, 0));
            assert.deepEqual(unhandled.splice(0), [], JSON.stringify(fault));
          },
        ),
        { numRuns: 200 },
      );
    } finally {
      globalThis.removeEventListener("unhandledrejection", note);
    }
  }),
);
