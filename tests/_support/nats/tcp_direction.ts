/**
 * One direction of a proxied TCP connection.
 *
 * @module
 */

import type { Socket } from "node:net";
import { clearTimeout as clearTimer, setTimeout as setTimer } from "node:timers";

/** How the bytes of a direction are treated. */
export interface LaneRules {
  /** Nothing is read. */
  stalled?: boolean;
  /** What is read is discarded. */
  dropped?: boolean;
  /** Milliseconds by which bytes are delayed. */
  delay?: number;
  /** The maximum number of bytes delivered at once. */
  slice?: number | undefined;
}

/** How many bytes a delay may hold before reading stops: more than any test sends. */
const HELD = 256 * 1024 * 1024;

/** Reads from one socket and writes to another, by rules that may change at any time. */
export class Lane {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #rules: LaneRules;
  readonly #queue: { readonly due: number; readonly bytes: Uint8Array }[] = [];
  #held = 0;
  #ended = false;
  #pumping = false;
  #delivery = Promise.resolve();

  constructor(
    from: Socket,
    to: Socket,
    rules: LaneRules,
    tap: ((bytes: Uint8Array) => Uint8Array | undefined) | undefined,
    count: (bytes: number) => void,
  ) {
    this.#from = from;
    this.#to = to;
    this.#rules = rules;
    from.on("data", (chunk) => {
      const bytes = chunk as Uint8Array;
      count(bytes.length);
      if (rules.dropped) return;
      const passed = tap === undefined ? bytes : tap(bytes);
      if (passed !== undefined && passed.length > 0) this.#push(passed);
    });
    from.on("end", () => this.end());
    // A reset of one side resets the other.
    from.on("error", () => to.destroyed || to.resetAndDestroy());
    from.on("close", () => this.end());
    this.changed();
  }

  /** Applies changed rules. */
  changed(): void {
    if (this.#rules.stalled || this.#held > HELD) this.#from.pause();
    else this.#from.resume();
    this.#pump();
  }

  /** Ends the receiving side once everything that was read is delivered. */
  end(): void {
    this.#ended = true;
    this.#pump();
  }

  /** Resolves when nothing is being delivered: at once if both sides are gone. */
  async idle(): Promise<void> {
    await this.#delivery;
  }

  #push(bytes: Uint8Array): void {
    this.#queue.push({ due: performance.now() + (this.#rules.delay ?? 0), bytes });
    this.#held += bytes.length;
    if (this.#held > HELD) this.changed();
    else this.#pump();
  }

  #pump(): void {
    if (!this.#pumping) this.#delivery = this.#deliver();
  }

  async #deliver(): Promise<void> {
    this.#pumping = true;
    while (this.#queue.length > 0 && !this.#rules.stalled && !this.#to.destroyed) {
      const wait = this.#queue[0]!.due - performance.now();
      if (wait > 0) {
        await this.#untilClosed(wait);
        continue;
      }
      const { bytes } = this.#queue.shift()!;
      await this.#write(bytes);
      this.#held -= bytes.length;
    }
    this.#pumping = false;
    if (this.#queue.length === 0 && this.#ended && !this.#to.destroyed) this.#to.end();
  }

  /** Waits, but no longer than the receiving side exists. */
  async #untilClosed(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimer(timer);
        this.#to.off("close", done);
        resolve();
      };
      const timer = setTimer(done, milliseconds);
      this.#to.on("close", done);
    });
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { slice } = this.#rules;
    if (slice === undefined) return await this.#send(bytes);
    for (let at = 0; at < bytes.length && !this.#to.destroyed; at += slice) {
      // Wait a turn after writing, otherwise the receiver reads two pieces as one.
      await new Promise<unknown>((resolve) => this.#to.write(bytes.subarray(at, at + slice), resolve));
      await new Promise<void>((resolve) => setTimer(resolve, 0));
    }
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (this.#to.destroyed || this.#to.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#to.off("drain", done);
        this.#to.off("close", done);
        resolve();
      };
      this.#to.on("drain", done);
      this.#to.on("close", done);
    });
  }
}
