/**
 * Loads the rows of a call: looks up their destination, then prepares their messages.
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

/** How the rows of a call are loaded. */
export interface LoadOptions {
  /** Whether the call may take fewer rows, so that their bodies keep a piece's byte limit. */
  readonly cut: boolean;
  /** Awaited when the rows are ready, before the first one is sent. An error that it throws fails the call. */
  readonly before?: ((rows: PreparedRows, destination: Destination) => Promise<void>) | undefined;
}

/** Prepares the rows of a publisher's calls. */
export class Loader {
  readonly #destinations: Destinations;
  readonly #settings: Settings;
  readonly #memory: PieceMemory;
  readonly #turns: Turns;

  /** Creates a loader that encodes into `memory`, in turn with other work. */
  constructor(destinations: Destinations, settings: Settings, memory: PieceMemory, turns: Turns) {
    this.#destinations = destinations;
    this.#settings = settings;
    this.#memory = memory;
    this.#turns = turns;
  }

  /**
   * Prepares a range of a batch. Returns undefined once `wanted` returns false: the call has ended.
   *
   * Throws a RouteError, ConnectionError or EncodeError.
   */
  async load(
    source: BatchSource,
    range: RowRange,
    { cut, before }: LoadOptions,
    wanted: () => boolean,
  ): Promise<LoadedRows | undefined> {
    const prepare = async (destination: Destination): Promise<LoadedRows | undefined> => {
      if (!wanted()) return undefined;
      const steps = messageSteps(source, range, destination, cut, this.#settings, this.#memory);
      const running = this.#turns.run(steps, wanted);
      const rows = running instanceof Promise ? await running : running;
      return rows === undefined ? undefined : { rows, destination };
    };
    const destination = await this.#destinations.resolve(source.resource);
    const loaded = await prepare(destination).catch(async (error) => {
      const renewed = isStreamLimit(error, destination) ? await this.#destinations.renew(destination) : undefined;
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

/** Whether an error is due to limits of a stream that may have changed since the stream was looked up. */
function isStreamLimit(error: unknown, { target }: Destination): boolean {
  if (error instanceof RouteError) {
    return ["route.short_dedupe", "route.too_small", "route.not_captured"].includes(error.code);
  }
  return error instanceof EncodeError && error.code === "encode.too_large" &&
    error.limit === target.fields.maxMessageBytes;
}
