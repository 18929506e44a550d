/** Assertions that run on every runtime: no `node:`, no package. */

/** Throws unless a condition holds. */
export function ok(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** Throws unless two values have the same JSON, with bigints written as strings. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [show(actual), show(expected)];
  if (is !== should) throw new Error(`${what}: is ${is.slice(0, 400)}, should be ${should.slice(0, 400)}`);
}

/** Throws unless two arrays of bytes are the same. */
export function equalBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  const at = expected.findIndex((byte, index) => actual[index] !== byte);
  if (at < 0 && actual.length === expected.length) return;
  const around = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(Math.max(0, at - 40), at + 40));
  throw new Error(`${what}: differs at byte ${at} of ${expected.length}: ${around(actual)} | ${around(expected)}`);
}

/** Returns what a promise rejects with; throws if it resolves. */
export async function rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`${what}: is fulfilled with ${show(value).slice(0, 200)}, should be rejected`);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, item) => typeof item === "bigint" ? `${item}n` : item) ?? "undefined";
}
