/**
 * Watches signals for their callers' aborts, with one listener a signal, however many calls share it: Node 20 warns of
 * more than ten, as of a leak.
 *
 * @module
 */

/** Who is to be told of each signal's abort. */
const watched = new WeakMap<AbortSignal, Watch>();

interface Watch {
  readonly waiting: Set<() => void>;
  /** The signal's one listener. */
  readonly tell: () => void;
}

/**
 * Calls back when the signal aborts, unless the function that is returned was called before. The listener goes with the
 * last of those who wait.
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
  const tell = () => waiting.forEach((aborted) => aborted());
  const all: Watch = { waiting, tell };
  watched.set(signal, all);
  signal.addEventListener("abort", tell, { once: true });
  return all;
}
