/**
 * An async iterable to which values are pushed.
 *
 * @module
 */

/** Values wait until they are read; `end` ends the iterable after them. */
export class PushQueue<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #ended = false;
  #reason: Error | undefined;
  #wake: () => void = () => {};

  /** The number of waiting values. */
  get length(): number {
    return this.#values.length;
  }

  /** Adds a value; ignored after the end. */
  push(value: T): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wake();
  }

  /** Ends the iterable, with an error if there is a reason. */
  end(reason?: Error): void {
    this.#ended = true;
    this.#reason = reason;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (true) {
      while (this.#values.length > 0) yield this.#values.shift()!;
      if (this.#reason !== undefined) throw this.#reason;
      if (this.#ended) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}
