/**
 * A stream as plain data, behind scripted connections: published messages are stored here, once per message id.
 *
 * @module
 */

import { ack, type Answer, headerOf, type Published } from "./answers.ts";

/** A stored message. */
export interface StoredMessage {
  /** The row's number. */
  readonly n: number;
  /** The message id. */
  readonly id: string | undefined;
}

/** A stream; several connections may publish to it. */
export class StreamModel {
  readonly name: string;
  readonly messages: StoredMessage[] = [];

  /** Creates an empty stream. */
  constructor(name = "ORDERS") {
    this.name = name;
  }

  /** Stores a message unless its id is stored already, and returns the acknowledgment. */
  store(published: Published): Answer {
    const id = headerOf(published, "Nats-Msg-Id");
    const known = id === undefined ? -1 : this.messages.findIndex((message) => message.id === id);
    if (known >= 0) return ack(this.name, known + 1, { duplicate: true });
    const { n } = JSON.parse(new TextDecoder().decode(published.data)) as { n: number };
    this.messages.push({ n, id });
    return ack(this.name, this.messages.length);
  }

  /** The numbers of the stored rows, in order. */
  get rows(): readonly number[] {
    return this.messages.map(({ n }) => n);
  }
}
