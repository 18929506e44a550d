/**
 * Keeps a secret out of what a runtime prints of an object that is not ours.
 *
 * @module
 */

/**
 * Where the three runtimes keep a TLS socket's key: `[connect-options].key`, `_tlsOptions.secureContext.context.key`.
 */
const DEEPEST = 4;

/**
 * Makes accessors, which no runtime prints, of the data properties that hold a secret. The object works as before.
 *
 * @param holder the object
 * @param secret the secret
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { inspect } from "node:util";
 *
 * const socket = { options: { key: "s3cret" } };
 * conceal(socket, "s3cret");
 * assert.equal(socket.options.key, "s3cret");
 * assert.ok(!inspect(socket, { showHidden: true }).includes("s3cret"));
 * ```
 */
export function conceal(holder: object, secret: string): void {
  const seen = new Set<object>();
  const visit = (object: object, depth: number): void => {
    if (depth > DEEPEST || seen.has(object)) return;
    seen.add(object);
    for (const name of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, name);
      const value: unknown = property?.value;
      if (value === secret) hide(object, name, property!.configurable === true, secret);
      else if (typeof value === "object" && value !== null) visit(value, depth + 1);
    }
  };
  visit(holder, 0);
}

function hide(object: object, name: string | symbol, configurable: boolean, secret: string): void {
  if (configurable) Object.defineProperty(object, name, { get: () => secret, enumerable: false, configurable: true });
}
