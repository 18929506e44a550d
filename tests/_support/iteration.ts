/** Counts how often Sets and Maps are iterated: an engine's iterator steps over deleted entries one by one. */

/** Returns how many iterators of Sets and Maps `work` makes. */
export function countingIteration(work: () => void): number {
  let made = 0;
  const undo: (() => void)[] = [];
  for (const prototype of [Set.prototype, Map.prototype] as object[]) {
    for (const key of ["keys", "values", "entries", Symbol.iterator]) {
      const original = Object.getOwnPropertyDescriptor(prototype, key)!;
      const counted = function (this: unknown): unknown {
        made++;
        return Reflect.apply(original.value, this, []);
      };
      Object.defineProperty(prototype, key, { ...original, value: counted });
      undo.push(() => Object.defineProperty(prototype, key, original));
    }
  }
  try {
    work();
  } finally {
    for (const each of undo) each();
  }
  return made;
}
