/**
 * The requirements of a publish mode for a stream, for the server that hosts it, and for each message.
 *
 * @module
 */

import { batchHeaderBytes } from "../message/batch_headers.ts";
import type { PublishMode } from "../types/mod.ts";
import type { ServerRelease } from "./checks/facts.ts";

/** The requirements of a publish mode. */
export interface ModeNeeds {
  /** The stream's flag and the lowest server; undefined if any stream and server will do. */
  readonly support:
    | { readonly flag: "allow_atomic" | "allow_batched"; readonly server: ServerRelease }
    | undefined;
  /** Whether the rows of a call are stored together or not at all. */
  readonly storesTogether: boolean;
  /** Bytes of headers that the mode adds to a row, by its index in the call; undefined if it adds none. */
  readonly headerBytes: ((index: number, last: boolean) => number) | undefined;
}

const NEEDS: Readonly<Record<PublishMode, ModeNeeds>> = {
  individual: { support: undefined, storesTogether: false, headerBytes: undefined },
  atomic: {
    // Servers recognize message ids within an atomic batch since 2.12.1.
    support: { flag: "allow_atomic", server: { version: "2.12.1", level: 2 } },
    storesTogether: true,
    headerBytes: batchHeaderBytes,
  },
  // The released servers with fast ingest have API level 4.
  fast: {
    support: { flag: "allow_batched", server: { version: "2.14.0", level: 4 } },
    storesTogether: false,
    headerBytes: undefined,
  },
};

/** Returns the requirements of a publish mode. */
export function needsOf(mode: PublishMode): ModeNeeds {
  return NEEDS[mode];
}
