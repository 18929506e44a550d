/**
 * Packages that the command loads when an input needs them, and asks for by name when they are missing.
 *
 * @module
 */

import { InputError } from "./error.ts";

/**
 * Loads a package.
 *
 * @throws {InputError} when it is missing; says how to get it
 */
export async function library<T>(name: string, why: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new InputError(`the package ${name} is missing, which ${why} needs: npm install ${name} (${reason})`);
  }
}
