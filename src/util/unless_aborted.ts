/**
 * Waiting that an abort ends.
 *
 * @module
 */

import { watchAbort } from "./abort.ts";
import { deferred } from "./deferred.ts";

/**
 * What a promise comes to, unless the signal aborts before: it then rejects with the signal's reason, and what comes of
 * the promise is nobody's.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  promise.catch(() => {}); // it may fail after an abort has settled the race
  signal.throwIfAborted();
  const aborted = deferred<never>();
  const forget = watchAbort(signal, () => aborted.reject(signal.reason));
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    forget();
  }
}

/** Awaits what opens as {@linkcode unlessAborted} does; what opens after the abort is closed. */
export async function openUnlessAborted<T>(
  opening: Promise<T>,
  signal: AbortSignal | undefined,
  close: (opened: T) => Promise<unknown>,
): Promise<T> {
  try {
    return await unlessAborted(opening, signal);
  } catch (error) {
    if (signal?.aborted) opening.then(close).catch(() => {});
    throw error;
  }
}
