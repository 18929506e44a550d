/**
 * Values that are made when they are first needed.
 *
 * @module
 */

/** Returns a function that gives the value of an index, made once: of thousands, a piece of a batch needs a few. */
export function lazily<T>(make: (index: number) => T): (index: number) => T {
  const made = new Map<number, T>();
  let last = -1;
  let value: T;
  return (index) => {
    if (index === last) return value;
    const known = made.get(index);
    value = known ?? make(index);
    if (known === undefined) made.set(index, value);
    last = index;
    return value;
  };
}
