/**
 * The inputs and outputs of the command, in one interface, so that tests can replace them.
 *
 * @module
 */

import process from "node:process";
import { watchAbort } from "../util/abort.ts";
import { deferred } from "../util/deferred.ts";
import { fileFault } from "./file_fault.ts";
import { visible, visibleLines } from "./text.ts";

/** The maximum duration of a write after an interrupt, in milliseconds. */
const PATIENCE = 5_000;

/** Output cannot be written: its reader has closed it, or the disk is full. */
export class OutputError extends Error {
  /** Always `"OutputError"`. */
  override readonly name = "OutputError" as const;
}

/**
 * Receives text.
 *
 * @example
 * ```ts
 * import type { TextOut } from "@jetrow/jetrow/cli";
 * import assert from "node:assert/strict";
 *
 * const written: string[] = [];
 * const out: TextOut = { write: (text) => Promise.resolve(void written.push(text)), columns: 80 };
 * await out.write("done\n");
 * assert.deepEqual(written, ["done\n"]);
 * ```
 */
export interface TextOut {
  /** Writes; resolves when there is room for more. Rejects if the output can no longer be written. */
  write(text: string): Promise<void>;
  /** The width of the terminal; undefined if the output is not a terminal. */
  readonly columns?: number | undefined;
}

/**
 * The inputs and outputs of the command.
 *
 * @example
 * ```ts
 * import { type CliIo, main } from "@jetrow/jetrow/cli";
 * import assert from "node:assert/strict";
 *
 * const out = { write: () => Promise.resolve() };
 * const io: CliIo = { stdin: new Response("").body!, stdout: out, stderr: out, env: {}, signal: AbortSignal.abort() };
 * assert.equal(await main(["--version"], io), 0);
 * ```
 */
export interface CliIo {
  /** Standard input; reading begins when it is iterated. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Results: receipts, one per line. */
  readonly stdout: TextOut;
  /** Everything else that is printed. */
  readonly stderr: TextOut;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first interrupt. */
  readonly signal: AbortSignal;
}

/** The process's own input and output. */
export function processIo(signal: AbortSignal): CliIo {
  return {
    stdin: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() },
    stdout: textOut(process.stdout, "standard output", signal),
    stderr: textOut(process.stderr, "standard error", signal),
    env: process.env,
    signal,
  };
}

/**
 * Returns the same input and output, except that written text cannot control a terminal. Names and descriptions come
 * from servers and files. A progress line keeps the `\r` before it and the code that erases the rest of the line.
 */
export function escapedIo(io: CliIo): CliIo {
  return { ...io, stdout: escapedOut(io.stdout), stderr: escapedOut(io.stderr) };
}

function escapedOut(out: TextOut): TextOut {
  return {
    write: (text) => out.write(isProgress(text) ? text : visibleLines(text)),
    get columns(): number | undefined {
      return out.columns;
    },
  };
}

/** Erases the line from the cursor on. */
const ERASE = "\x1b[K";

/** Returns whether the string is a progress line, or its removal. */
function isProgress(text: string): boolean {
  const line = text.slice(1, -ERASE.length);
  return text.startsWith("\r") && text.endsWith(ERASE) && line === visible(line);
}

/** The used part of a Node stream. */
interface WriteStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
}

function textOut(stream: WriteStream, name: string, signal: AbortSignal): TextOut {
  // The callback of the write receives the error of a reader that went away (`| head`); an `error` event without a
  // listener would end the process.
  stream.on("error", () => {});
  let failure: OutputError | undefined;
  return {
    async write(text: string): Promise<void> {
      // A stream that has failed may never call back again.
      if (failure !== undefined) throw failure;
      const writing = new Promise<void>((resolve, reject) =>
        stream.write(text, (error) => error ? reject(error) : resolve())
      );
      await unlessStuck(writing, signal).catch((error) => {
        throw failure = new OutputError(`${name} cannot be written: ${fileFault(error)}`);
      });
    },
    get columns(): number | undefined {
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
  };
}

/** After an interrupt, output that is not read must not block the command. */
async function unlessStuck(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  const stuck = deferred<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (): void => {
    timer = setTimeout(() => stuck.reject(new Error("it is not read")), PATIENCE);
  };
  const forget = watchAbort(signal, start);
  if (signal.aborted) start();
  try {
    await Promise.race([writing, stuck.promise]);
  } finally {
    forget();
    clearTimeout(timer);
  }
}
