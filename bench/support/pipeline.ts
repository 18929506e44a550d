/** A limited number of promises at a time. */

/** Starts work as soon as there is room for it. */
export interface Pipeline {
  /** Starts it when there is room. */
  next(start: () => Promise<unknown>): Promise<void> | void;
  /** Waits for everything that was started. */
  end(): Promise<void>;
}

/** At most `width` pieces of work at a time; the first failure fails all. */
export function pipeline(width: number): Pipeline {
  let free = width;
  let failure: unknown;
  let wake: (() => void) | undefined;
  const settled = (): void => {
    free++;
    wake?.();
    wake = undefined;
  };
  const room = async (places: number): Promise<void> => {
    while (free < places) await new Promise<void>((resolve) => wake = resolve);
    if (failure !== undefined) throw failure;
  };
  const begin = (start: () => Promise<unknown>): void => {
    free--;
    start().then(settled, (error) => {
      failure ??= error;
      settled();
    });
  };
  return {
    next: (start) => free > 0 ? begin(start) : room(1).then(() => begin(start)),
    end: () => room(width),
  };
}
