/**
 * Finds what is due first among thousands of items whose due times change often. No clock, no I/O.
 *
 * @module
 */

/** An item in the heap. Only the item's last entry counts. */
interface Entry<T> {
  readonly item: T;
  readonly time: number;
}

/**
 * A heap by due time. An item whose due time was postponed is moved only when its entry is first, so that postponing
 * costs nothing. An item whose due time may have become earlier must be added again.
 */
export class DueQueue<T extends object> {
  readonly #dueOf: (item: T) => number;
  #heap: Entry<T>[] = [];
  readonly #entries = new Map<T, Entry<T>>();

  /** Creates an empty queue; `dueOf` returns an item's due time, Infinity for never. */
  constructor(dueOf: (item: T) => number) {
    this.#dueOf = dueOf;
  }

  /** Adds an item, or notes that it may be due earlier than before. */
  add(item: T): void {
    const time = this.#dueOf(item);
    if (time < (this.#entries.get(item)?.time ?? Infinity)) this.#push({ item, time });
  }

  /** Removes an item. */
  delete(item: T): void {
    this.#entries.delete(item);
    this.#purge();
  }

  /** Removes all items. */
  clear(): void {
    this.#entries.clear();
    this.#heap = [];
  }

  /** The earliest due time; Infinity if no item is ever due. */
  get next(): number {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      const { item, time } = top;
      const isLast = this.#entries.get(item) === top;
      if (isLast && this.#dueOf(item) === time) return time;
      this.#pop();
      if (!isLast) continue;
      this.#entries.delete(item);
      this.add(item);
    }
    return Infinity;
  }

  /** Removes and returns all items that are due at a time. */
  take(time: number): T[] {
    const due: T[] = [];
    while (this.next <= time && this.#heap.length > 0) {
      const { item } = this.#pop();
      this.#entries.delete(item);
      due.push(item);
    }
    return due;
  }

  /** Drops entries that do not count any more once they are more than half: they keep removed items in memory. */
  #purge(): void {
    if (this.#heap.length < 64 || this.#heap.length < 2 * this.#entries.size) return;
    this.#heap = [...this.#entries.values()].sort((one, two) => one.time - two.time);
  }

  #push(entry: Entry<T>): void {
    this.#purge();
    this.#entries.set(entry.item, entry);
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.time <= entry.time) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): Entry<T> {
    const heap = this.#heap;
    const top = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return top;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && heap[child + 1]!.time < heap[child]!.time) child++;
      if (heap[child]!.time >= last.time) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
