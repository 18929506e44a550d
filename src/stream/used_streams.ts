/**
 * The streams that rows were published to, and whether each is still the same stream. A stream that was deleted and
 * recreated acknowledges rows as before, but no longer has those that it acknowledged earlier.
 *
 * @module
 */

import { inOrder } from "../util/in_order.ts";

/** The number of concurrent lookups. */
const LOOKUPS = 16;

/** Returns when a stream was created: null if it does not exist, undefined if that is unknown. */
export type CreationOf = (stream: string) => Promise<string | null | undefined>;

/** Streams with the time of their creation, as they were before their first row was sent. */
export class UsedStreams {
  readonly #created = new Map<string, string>();
  /** A stream that was seen with two creation times. */
  #lost: string | undefined;

  /** Records that rows are about to be sent to a stream. */
  note(stream: string, created: string): void {
    const known = this.#created.get(stream);
    if (known === undefined) this.#created.set(stream, created);
    else if (known !== created) this.#lost ??= stream;
  }

  /**
   * Returns a stream that was deleted since rows were sent to it, whether or not it was recreated; undefined if there is
   * none. Forgets the streams, since the rows published to them are accounted for.
   */
  async takeLost(creationOf: CreationOf): Promise<string | undefined> {
    const used = [...this.#created];
    const found = inOrder(used, LOOKUPS, async ([stream, created]) => {
      const now = await creationOf(stream);
      return now === undefined || now === created ? undefined : stream;
    });
    for await (const lost of found) this.#lost ??= lost;
    this.#created.clear();
    return this.#lost;
  }
}
