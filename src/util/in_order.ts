/**
 * Maps items concurrently and yields the results in order.
 *
 * @module
 */

/**
 * Maps items concurrently, at most `ahead` at a time, and yields the results in the order of the items. After a failure,
 * or when the consumer stops, no further work begins; work in progress ends by itself.
 */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    const result = work(item);
    result.catch(() => {}); // reported when its turn comes
    running.push(result);
    if (running.length >= ahead) yield await running.shift()!;
  }
  for (const result of running) yield await result;
}
