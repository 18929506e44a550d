/**
 * Work done ahead of who takes its results.
 *
 * @module
 */

/**
 * The results of some work on each item, in the items' order, with at most `ahead` items worked on at a time. Where one
 * fails, or who takes the results leaves, no further work is begun; what runs is left to end.
 */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    const result = work(item);
    result.catch(() => {}); // it is looked at in its turn
    running.push(result);
    if (running.length >= ahead) yield await running.shift()!;
  }
  for (const result of running) yield await result;
}
