/**
 * Packages that the command loads when an input needs them, and asks for by name when they are missing.
 *
 * @module
 */

import { InputError } from "./error.ts";

/**
 * Loads a package.
 *
 * @param name its name on npm
 * @param why what it is needed for
 * @param load imports it
 * @returns the module
 * @throws {InputError} when it is missing; says how to get it
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const outcome = await library("no-such-package", "this example", () => import("data:text/javascript,throw 1"))
 *   .catch((error) => error.message);
 * assert.ok(outcome.includes("npm install no-such-package"));
 * ```
 */
export async function library<T>(name: string, why: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new InputError(`the package ${name} is missing, which ${why} needs: npm install ${name} (${reason})`);
  }
}
