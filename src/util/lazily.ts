/**
 * Values that are made when they are first needed.
 *
 * @module
 */

/** Returns a function that makes the value of an index on its first use: a piece needs few of thousands. */
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
