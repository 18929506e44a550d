/**
 * Makes a call's rows ready to be sent: its destination, then its messages.
 *
 * @module
 */

import { EncodeError, RouteError } from "../errors/mod.ts";
import type { PieceMemory } from "../json/memory/spare.ts";
import type { RowRange } from "../message/prepare.ts";
import type { PreparedRows } from "../message/prepared_rows.ts";
import type { Settings } from "../options/publisher.ts";
import type { Destination, Destinations } from "../stream/destination.ts";
import type { Turns } from "./encode_turns.ts";
import { type BatchSource, messageSteps } from "./prepare_batch.ts";

/** Rows that are ready to be sent. */
export interface LoadedRows {
  /** The messages. */
  readonly rows: PreparedRows;
  /** Where they go. */
  readonly destination: Destination;
}

/** Awaited when a call's rows are ready, before the first one is sent. What it throws fails the call. */
export type BeforeSending = (rows: PreparedRows, destination: Destination) => Promise<void>;

/** Whether rows were refused by limits that may have changed since the stream was looked up. */
function isByStream(error: unknown, { target }: Destination): boolean {
  if (error instanceof RouteError) {
    return ["route.short_dedupe", "route.too_small", "route.not_captured"].includes(error.code);
  }
  return error instanceof EncodeError && error.code === "encode.too_large" &&
    error.limit === target.fields.maxMessageBytes;
}

/** What makes a publisher's rows ready. */
export class Loader {
  readonly #destinations: Destinations;
  readonly #settings: Settings;
  readonly #memory: PieceMemory;
  readonly #turns: Turns;

  /** A loader that encodes into `memory`, in turn with other work. */
  constructor(destinations: Destinations, settings: Settings, memory: PieceMemory, turns: Turns) {
    this.#destinations = destinations;
    this.#settings = settings;
    this.#memory = memory;
    this.#turns = turns;
  }

  /**
   * Loads a range of a batch; with `cut`, fewer rows where their bodies pass a piece's limit. Returns undefined when
   * `wanted` says that the call has ended.
   *
   * Throws RouteErrors, ConnectionErrors and EncodeErrors.
   */
  async load(
    source: BatchSource,
    range: RowRange,
    cut: boolean,
    wanted: () => boolean,
    before?: BeforeSending,
  ): Promise<LoadedRows | undefined> {
    const prepare = async (destination: Destination): Promise<LoadedRows | undefined> => {
      if (!wanted()) return undefined;
      const steps = messageSteps(source, range, destination, cut, this.#settings, this.#memory);
      const made = this.#turns.take(steps, wanted);
      const rows = made instanceof Promise ? await made : made;
      return rows === undefined ? undefined : { rows, destination };
    };
    const destination = await this.#destinations.resolve(source.resource);
    const loaded = await prepare(destination).catch(async (error) => {
      const renewed = isByStream(error, destination) ? await this.#destinations.renew(destination) : undefined;
      if (renewed === undefined) throw error;
      return await prepare(renewed);
    });
    if (loaded === undefined || !wanted()) return undefined;
    if (before !== undefined) await before(loaded.rows, loaded.destination);
    if (!wanted()) return undefined;
    this.#destinations.use(loaded.destination);
    return loaded;
  }
}
