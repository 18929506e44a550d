/**
 * A promise with its ends in hand. `Promise.withResolvers` is not in Node 20.
 *
 * @module
 */

/** A promise and the functions that settle it. */
export interface Deferred<T> {
  /** The promise. */
  readonly promise: Promise<T>;
  /** Fulfils it. */
  readonly resolve: (value: T) => void;
  /** Rejects it. */
  readonly reject: (reason: unknown) => void;
}

/** Makes a promise that somebody else settles. A rejection that nobody has waited for yet is no uncaught error. */
export function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
