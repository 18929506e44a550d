/**
 * Waits that an abort ends. However many calls share a signal, it gets one listener: Node warns of a leak above ten.
 *
 * @module
 */

import { deferred } from "./deferred.ts";

/** The callbacks that wait for each signal's abort. */
const watched = new WeakMap<AbortSignal, Watch>();

interface Watch {
  readonly waiting: Set<() => void>;
  /** The one listener of the signal. */
  readonly tell: () => void;
}

/**
 * Calls back when the signal aborts, unless the returned function was called before. The listener is removed with the
 * last callback.
 */
export function watchAbort(signal: AbortSignal, aborted: () => void): () => void {
  const { waiting, tell } = watched.get(signal) ?? watch(signal);
  waiting.add(aborted);
  return () => {
    if (!waiting.delete(aborted) || waiting.size > 0) return;
    watched.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

function watch(signal: AbortSignal): Watch {
  const waiting = new Set<() => void>();
  const tell = (): void => {
    const errors: unknown[] = [];
    for (const aborted of waiting) {
      try {
        aborted();
      } catch (error) {
        errors.push(error);
      }
    }
    // A callback that throws does not prevent the others from being called.
    if (errors.length > 0) throw errors[0];
  };
  const all: Watch = { waiting, tell };
  watched.set(signal, all);
  signal.addEventListener("abort", tell, { once: true });
  return all;
}

/** A signal that follows others until it is released. */
export interface LinkedSignal {
  /** Aborts when the first of the others does, with its reason. */
  readonly signal: AbortSignal;
  /** Ends the link and removes its listeners. */
  release(): void;
}

/**
 * Links a new signal to others. Unlike `AbortSignal.any`, it adds nothing that stays at a long-lived signal, where Node
 * 20 keeps about 90 bytes for each dependent signal.
 */
export function linkSignals(...signals: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) controller.abort(aborted.reason);
  const watches = signals.map((signal) => watchAbort(signal, () => controller.abort(signal.reason)));
  return { signal: controller.signal, release: () => watches.forEach((forget) => forget()) };
}

/** Awaits a promise, but rejects with the signal's reason if it aborts first. */
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

/** Awaits something that opens, as {@linkcode unlessAborted} does; if it opens after the abort, it is closed. */
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
