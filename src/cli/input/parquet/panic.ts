/**
 * Calls a WebAssembly library that may crash on its input.
 *
 * @module
 */

import process from "node:process";
import { deferred } from "../../../util/deferred.ts";

/** A library that crashed: it must not be called again, not even to free memory. */
export class Panic extends Error {
  /** Always `"Panic"`. */
  override readonly name = "Panic" as const;

  constructor() {
    super("the Parquet decoder crashed: the file is probably damaged");
  }
}

/**
 * Runs a step, and throws a {@linkcode Panic} if the library crashes in it. Rust code compiled to WebAssembly panics on
 * unexpected input; the trap is then thrown as an uncaught error, and the promise of the step never settles. Any other
 * error that is thrown during the step ends the process, as it would without this function.
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
 * The number of decoded bytes above which a crash is attributed to memory. A crash does not say its cause; one cause is
 * a failed allocation, since a WebAssembly memory has at most 4 GiB, and the other is damaged data.
 */
const MUCH = 2 ** 30;

/** Returns whether a decoder failed for lack of memory; `bytes` is what it held and was to decode. */
export function isMemoryFailure(error: unknown, bytes: number): boolean {
  if (error instanceof Panic) return bytes >= MUCH;
  // The messages of V8 and of JavaScriptCore.
  return error instanceof RangeError &&
    /allocation failed|out of memory|invalid array (?:buffer )?length/i.test(error.message);
}
