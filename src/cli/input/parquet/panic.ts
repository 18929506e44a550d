/**
 * Steps of a WebAssembly library that may die of what they are given.
 *
 * @module
 */

import process from "node:process";
import { deferred } from "../../../util/deferred.ts";

/** A library that died: it must not be called again, not even to free what it holds. */
export class Panic extends Error {
  /** Always `"Panic"`. */
  override readonly name = "Panic" as const;

  constructor() {
    super("the Parquet decoder crashed: the file is probably damaged");
  }
}

/**
 * Takes a step, and throws a {@linkcode Panic} when the library dies of it. Code that Rust compiled to WebAssembly
 * panics on what it did not expect; the trap is then thrown where nobody waits for it, and the promise of the step is
 * never settled. Whatever else is thrown while the step lasts ends the process as it would without.
 */
export async function orPanic<T>(step: () => Promise<T>): Promise<T> {
  const died = deferred<never>();
  const told = (error: unknown): void => {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    died.reject(new Panic());
  };
  process.on("uncaughtException", told).on("unhandledRejection", told);
  try {
    return await Promise.race([step(), died.promise]);
  } catch (error) {
    throw error instanceof WebAssembly.RuntimeError ? new Panic() : error;
  } finally {
    process.off("uncaughtException", told).off("unhandledRejection", told);
  }
}

/**
 * Decoded bytes from which a crash is one of memory. A crash does not say its cause; an allocation that fails in a
 * WebAssembly memory of 4 GiB at most is one cause, and damage is the other.
 */
const MUCH = 2 ** 30;

/** Whether a decoder failed for want of memory; `bytes` is what it held and was to decode. */
export function isMemoryFailure(error: unknown, bytes: number): boolean {
  if (error instanceof Panic) return bytes >= MUCH;
  // V8 and JavaScriptCore.
  return error instanceof RangeError &&
    /allocation failed|out of memory|invalid array (?:buffer )?length/i.test(error.message);
}
