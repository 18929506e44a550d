/**
 * An async iterable that is pushed to.
 *
 * @module
 */

/** Values wait until they are asked for; `end` ends it behind them. */
export class PushQueue<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #ended = false;
  #reason: Error | undefined;
  #wake: () => void = () => {};

  /** How many values wait. */
  get length(): number {
    return this.#values.length;
  }

  /** Adds a value; nothing happens once it has ended. */
  push(value: T): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wake();
  }

  /** Ends it, by an error if there is a reason. */
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
