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

/** The end of an existing journal. */
export interface JournalEnd {
  /** Its size in bytes. */
  readonly size: number;
  /** Checksum of its last complete line. */
  readonly check: number;
  /** Whether an incomplete line follows the last complete one. */
  readonly open: boolean;
}

/** A journal that is being written. Lines are appended in the order of the calls. */
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

  /** Appends several lines in one write. */
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

  /** Waits until everything appended is on the disk. */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#handle.datasync());
  }

  /** Empties the journal of a run that has begun nothing, so that the next run can use the same file. */
  async clear(): Promise<void> {
    await this.close().catch(() => {});
    await truncate(this.#path, 0);
  }

  /** Syncs and closes, once. */
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

  /** After a failure nothing is written: a reader would not expect further lines there. */
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

  /** Removes a line that could not be written completely: its piece is not sent. */
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
  // The file is created if it does not exist, so what is missing is its folder.
  const missing = systemCode(error) === "ENOENT";
  return new JournalError(`${path} cannot be written: ${missing ? "no such folder" : fileFault(error)}`);
}

/** A new file survives a crash only if its folder is synced, too. Not every system can do that. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(dirname(path), "r");
    await folder.sync().catch(() => {});
    await folder.close();
  } catch {
    // Windows cannot open folders.
  }
}
