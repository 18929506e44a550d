/**
 * The orders that are accepted and not yet committed: one append-only file per epoch, removed when the epoch is
 * committed. A file that exists when the process starts was not committed, and is published again.
 */

import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { Order } from "./orders.ts";

/** The maximum number of orders in an epoch, which are read and published at once. */
const EPOCH_ROWS = 20_000;

/** The file to which orders are appended. */
interface OpenFile {
  readonly epoch: number;
  readonly fd: number;
  /** Lines by id: a client without an answer sends its orders again. */
  readonly lines: Map<string, string>;
  size: number;
}

/** Thrown for two different orders with the same id. */
export class Conflict extends Error {
  override name = "Conflict";
}

export class Journal {
  readonly #folder: string;
  /** Epochs that have a file, oldest first; the open one is the last. */
  readonly #epochs: number[];
  #last: number;
  #open: OpenFile | undefined;
  #wake = Promise.withResolvers<void>();
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    const files = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
    this.#epochs = files.map((name) => parseInt(name)).sort((a, b) => a - b);
    this.#last = this.#epochs.at(-1) ?? 0;
  }

  /** The number of epochs to commit. */
  get waiting(): number {
    return this.#epochs.length;
  }

  /** Whether the journal accepts no more orders. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Writes orders to the disk: all of them when it returns, none when it throws. */
  append(orders: readonly Order[]): void {
    const fresh = new Map<string, string>();
    for (const order of orders) {
      const line = JSON.stringify(order);
      const kept = fresh.get(order.id) ?? this.#open?.lines.get(order.id);
      if (kept === undefined) fresh.set(order.id, line);
      else if (kept !== line) throw new Conflict(`there is another order with the id ${order.id}`);
    }
    if (fresh.size === 0) return;
    const file = this.#open ??= this.#create();
    const bytes = Buffer.from([...fresh.values(), ""].join("\n"));
    try {
      appendFileSync(file.fd, bytes);
      fdatasyncSync(file.fd);
    } catch (error) {
      ftruncateSync(file.fd, file.size); // the next line must not follow an incomplete one
      throw error;
    }
    file.size += bytes.length;
    for (const [id, line] of fresh) file.lines.set(id, line);
    if (file.lines.size >= EPOCH_ROWS) this.#seal();
    this.#wake.resolve();
  }

  /** Waits for the oldest epoch with orders, and closes it for further ones. Undefined: closed, and all committed. */
  async oldest(): Promise<number | undefined> {
    while (true) {
      const [epoch] = this.#epochs;
      if (epoch !== undefined && epoch !== this.#open?.epoch) return epoch;
      if (epoch !== undefined) this.#seal();
      else if (this.#closed) return undefined;
      else await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  /** An epoch's orders. An incomplete last line was never acknowledged: its client sends it again. */
  read(epoch: number): Order[] {
    const text = readFileSync(this.#path(epoch), "utf8");
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** Removes the file of a committed epoch. */
  commit(epoch: number): void {
    unlinkSync(this.#path(epoch));
    this.#forget(epoch);
  }

  /** Renames the file of an epoch that cannot be published, for a person to look at. */
  setAside(epoch: number): string {
    const path = join(this.#folder, `${epoch}.refused.${Date.now()}`);
    renameSync(this.#path(epoch), path);
    this.#forget(epoch);
    return path;
  }

  /** Accepts no more orders. */
  close(): void {
    this.#closed = true;
    this.#wake.resolve();
  }

  #create(): OpenFile {
    const epoch = ++this.#last; // epochs of a session are consecutive
    const fd = openSync(this.#path(epoch), "ax");
    const folder = openSync(this.#folder, "r");
    fsyncSync(folder); // the file's name must be on the disk, too
    closeSync(folder);
    this.#epochs.push(epoch);
    return { epoch, fd, lines: new Map(), size: 0 };
  }

  #seal(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  #forget(epoch: number): void {
    this.#epochs.splice(this.#epochs.indexOf(epoch), 1);
  }

  #path(epoch: number): string {
    return join(this.#folder, `${epoch}.ndjson`);
  }
}
