/** A series of scripted connections to one stream, each of which is lost at a given message. */

import type { NatsConnection } from "@nats-io/nats-core";
import {
  type Answer,
  type FakeConnection,
  fakeConnection,
  type FakeConnectionOptions,
  type Published,
  StreamModel,
} from "../_support/fake/mod.ts";

/** How connections are lost and what they answer. */
export interface LossyDialerOptions {
  /** The stream. @default {new StreamModel()} */
  readonly stream?: StreamModel;
  /** The message, counted from 0, at which each connection is lost; later connections are not lost. */
  readonly loseAt?: readonly number[];
  /** Whether the message at which a connection is lost is stored, unacknowledged. @default {true} */
  readonly store?: boolean;
  /** What is answered. @default a correct acknowledgment */
  readonly answers?: (published: Published, store: () => Answer) => Answer | undefined;
}

/** Opens scripted connections to one stream, one after another. */
export class LossyDialer {
  readonly stream: StreamModel;
  readonly connections: FakeConnection[] = [];
  readonly #options: LossyDialerOptions;
  readonly #how: FakeConnectionOptions;
  /** Called after a connection was lost. */
  onLoss: () => void = () => {};

  constructor(options: LossyDialerOptions, how: FakeConnectionOptions = {}) {
    this.#options = options;
    this.#how = how;
    this.stream = options.stream ?? new StreamModel();
  }

  /** Dials the next connection. */
  readonly connect = (): Promise<NatsConnection> => {
    const at = this.#options.loseAt?.[this.connections.length] ?? Infinity;
    const fake = fakeConnection({
      stream: this.stream.name,
      frames: this.connections.length % 2 === 0,
      ...this.#how,
      answers: (published) => this.#answer(published, at),
    });
    this.connections.push(fake);
    return Promise.resolve(fake.nc);
  };

  /** Loses the last connection now. */
  loseLast(): undefined {
    const fake = this.connections.at(-1)!;
    queueMicrotask(() => {
      fake.lose();
      this.onLoss();
    });
  }

  #answer(published: Published, at: number): Answer | undefined {
    const store = () => this.stream.store(published);
    if (published.index < at) return (this.#options.answers ?? ((_, right) => right()))(published, store);
    // Later messages of the same write are lost.
    if (published.index > at) return undefined;
    if (this.#options.store ?? true) store();
    return this.loseLast();
  }
}
