/** A line of scripted connections to one stream, each of which dies at its time. */

import type { NatsConnection } from "@nats-io/nats-core";
import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  type FakeConnectionOptions,
  type Published,
  StreamModel,
} from "../_support/fake/mod.ts";

/** How connections fare. */
export interface LineOptions {
  /** The stream. @default {new StreamModel()} */
  readonly stream?: StreamModel;
  /** At which message each connection dies, counted from 0; those behind the last one live. */
  readonly dieAt?: readonly number[];
  /** Whether the message at which one dies is stored, unacknowledged. @default {true} */
  readonly store?: boolean;
  /** What is answered. @default the right thing */
  readonly answers?: (published: Published, store: () => Answer) => Answer | undefined;
}

/** Connections one after another. */
export class Line {
  readonly stream: StreamModel;
  readonly connections: FakeConnection[] = [];
  readonly #options: LineOptions;
  readonly #how: FakeConnectionOptions;
  /** Called when one has died. */
  onDeath: () => void = () => {};

  constructor(options: LineOptions, how: FakeConnectionOptions = {}) {
    this.#options = options;
    this.#how = how;
    this.stream = options.stream ?? new StreamModel();
  }

  /** Dials the next one. */
  readonly connect = (): Promise<NatsConnection> => {
    const at = this.#options.dieAt?.[this.connections.length] ?? Infinity;
    const fake = fakeConnection({
      stream: this.stream.name,
      frames: this.connections.length % 2 === 0,
      ...this.#how,
      answers: (published) => this.#answer(published, at),
    });
    this.connections.push(fake);
    return Promise.resolve(fake.nc);
  };

  /** The last one dies now. */
  die(): undefined {
    const fake = this.connections.at(-1)!;
    queueMicrotask(() => {
      fake.lose();
      this.onDeath();
    });
  }

  #answer(published: Published, at: number): Answer | undefined {
    const store = () => this.stream.store(published);
    if (published.index < at) return (this.#options.answers ?? ((_, right) => right()))(published, store);
    // What follows in the same write is lost.
    if (published.index > at) return undefined;
    if (this.#options.store ?? true) store();
    return this.die();
  }
}
