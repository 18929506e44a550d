/**
 * Lets one kind of transport dial at a time. The factory of transports is one variable of the NATS client: during a
 * dial, another kind of transport must not replace it.
 *
 * @module
 */

import type { TransportKind } from "../options/servers.ts";

interface Waiting {
  readonly kind: TransportKind;
  readonly enter: () => void;
}

const queue: Waiting[] = [];
let open: TransportKind | undefined;
let inside = 0;

/**
 * Runs a dial while no dial of another kind runs; dials of one kind run concurrently. First come, first served, so
 * that neither kind starves.
 */
export async function whileAlone<T>(kind: TransportKind, task: () => Promise<T>): Promise<T> {
  if (inside > 0 && (open !== kind || queue.length > 0)) {
    await new Promise<void>((enter) => queue.push({ kind, enter }));
  } else {
    open = kind;
    inside++;
  }
  try {
    return await task();
  } finally {
    if (--inside === 0) admit();
  }
}

/** Admits the first that waits, and all of its kind directly behind it. They are counted here, before any of them runs. */
function admit(): void {
  open = queue[0]?.kind;
  while (queue.length > 0 && queue[0]?.kind === open) {
    inside++;
    queue.shift()?.enter();
  }
}
