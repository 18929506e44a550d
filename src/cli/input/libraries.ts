/**
 * Loads packages that only some inputs need; if one is missing, the error names it.
 *
 * @module
 */

import { InputError } from "./error.ts";

/**
 * Loads a package.
 *
 * @throws {InputError} if it is missing; the message says how to install it
 */
export async function library<T>(name: string, why: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new InputError(`the package ${name} is missing, which ${why} needs: npm install ${name} (${reason})`);
  }
}
