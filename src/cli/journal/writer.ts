/**
 * Appends to a journal.
 *
 * @module
 */

import { type FileHandle, open, stat, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { fileFault, systemCode } from "../file_fault.ts";
import { UsageError } from "../errors.ts";
import { JournalError } from "./error.ts";
import { FIRST_CHECK, formatLine, type JournalLine } from "./line.ts";

/** Where a journal that exists ends. */
export interface JournalEnd {
  /** Its size in bytes. */
  readonly size: number;
  /** Checksum of its last whole line. */
  readonly check: number;
  /** Whether text without a line feed follows that line, or stands for it. */
  readonly open: boolean;
}

/** A journal that is written. Lines are appended in the order of the calls. */
export class JournalWriter {
  readonly #path: string;
  readonly #handle: FileHandle;
  #size: number;
  #check: number;
  #open: boolean;
  #turn: Promise<void> = Promise.resolve();
  #failure: JournalError | undefined;
  #closing: Promise<void> | undefined;

  private constructor(path: string, handle: FileHandle, end: JournalEnd) {
    this.#path = path;
    this.#handle = handle;
    this.#size = end.size;
    this.#check = end.check;
    this.#open = end.open;
  }

  /**
   * Opens a journal to append after `end`, or a new one. Throws a UsageError if a new one exists already.
   */
  static async open(path: string, end?: JournalEnd): Promise<JournalWriter> {
    const found = await stat(path).catch(() => undefined);
    // Opening a named pipe would wait for its reader.
    if (found !== undefined && !found.isFile()) {
      const reason = found.isDirectory() ? "it is a directory" : "it is not a regular file";
      throw new JournalError(`${path} cannot be written: ${reason}`);
    }
    const handle = await open(path, "a").catch((error) => {
      throw unwritable(path, error);
    });
    const { size } = await handle.stat();
    if (end === undefined && size > 0) {
      await handle.close();
      throw new UsageError(`${path} already exists: use --resume to continue it, or name another file`);
    }
    await syncFolder(path);
    return new JournalWriter(path, handle, end ?? { size: 0, check: FIRST_CHECK, open: false });
  }

  /** Appends lines, together. */
  append(...lines: readonly JournalLine[]): Promise<void> {
    return this.#inTurn(async () => {
      let check = this.#check;
      let text = this.#open ? "\n" : "";
      for (const line of lines) {
        const formatted = formatLine(line, check);
        check = formatted.check;
        text += `${formatted.text}\n`;
      }
      await this.#write(text);
      this.#check = check;
      this.#open = false;
    });
  }

  /** Waits until the disk has what was appended. */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#handle.datasync());
  }

  /** Empties the journal of a run that has begun nothing: the next one can name the same file. */
  async clear(): Promise<void> {
    await this.close().catch(() => {});
    await truncate(this.#path, 0);
  }

  /** Syncs and closes; once. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    try {
      if (this.#failure === undefined) await this.sync();
    } finally {
      await this.#handle.close();
    }
  }

  /** After a failure nothing more is written: what would follow is not what a reader expects there. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        await work();
      } catch (error) {
        throw this.#failure = error instanceof JournalError ? error : unwritable(this.#path, error);
      }
    });
    this.#turn = done.catch(() => {});
    return done;
  }

  /** A line that could not be written whole is taken away again: its piece is not sent. */
  async #write(text: string): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size !== this.#size) throw new JournalError(`${this.#path} is written to by another process`);
    const bytes = new TextEncoder().encode(text);
    try {
      for (let written = 0; written < bytes.length;) {
        written += (await this.#handle.write(bytes, written, bytes.length - written)).bytesWritten;
      }
    } catch (error) {
      await this.#handle.truncate(size).catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
  }
}

function unwritable(path: string, error: unknown): JournalError {
  // A file that is not there is made: what is missing is where it would be.
  const missing = systemCode(error) === "ENOENT";
  return new JournalError(`${path} cannot be written: ${missing ? "no such folder" : fileFault(error)}`);
}

/** A file that is new is found after a crash only when its folder is on the disk, too. Not every system can say so. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(dirname(path), "r");
    await folder.sync().catch(() => {});
    await folder.close();
  } catch {
    // Windows opens no folders.
  }
}
