/**
 * The `jetrow` command.
 *
 * ```sh
 * deno run -A jsr:@jetrow/jetrow/cli publish orders.arrow \
 *   --url nats://localhost --stream ORDERS --subject 'orders.{resource}'
 * ```
 *
 * @module
 */

import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { format } from "node:util";
import { check } from "./check/command.ts";
import { type CliIo, escapedIo, processIo } from "./io.ts";
import { CHECK_OPTIONS } from "./check/options.ts";
import { misspeltVariables } from "./options/environment.ts";
import type { CliOption } from "./options/parse.ts";
import { publish } from "./publish/command.ts";
import { PUBLISH_OPTIONS } from "./publish/options.ts";
import { VERIFY_OPTIONS } from "./verify/options.ts";
import { endingOf } from "./report.ts";
import { UsageError } from "./errors.ts";
import { visible } from "./text.ts";
import { verify } from "./verify/command.ts";
import { VERSION } from "./version.ts";

export type { CliIo, TextOut } from "./io.ts";

/** Runs a subcommand; returns the exit code, or throws an error that decides it. */
type Subcommand = (args: readonly string[], io: CliIo) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = { publish, check, verify };

/** The options of all commands: a variable may be meant for another command. */
const OPTIONS: readonly CliOption[] = [...PUBLISH_OPTIONS, ...CHECK_OPTIONS, ...VERIFY_OPTIONS];

const HELP = `jetrow ${VERSION}: Apache Arrow rows in, acknowledged JetStream messages out

  jetrow publish FILE...    publish the rows of Arrow IPC or Parquet files, or of standard input (-)
  jetrow check              check the connection, the destination and its consumers; changes nothing
  jetrow verify RECEIPT...  read the rows of receipts back and compare them
  jetrow --version          print the version
  jetrow --help             print this help; jetrow COMMAND --help lists the options of a command
`;

/**
 * Runs the command.
 *
 * @param args the arguments, the subcommand first
 * @param io what it reads and writes
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted
 * @example
 * ```ts
 * import { main } from "@jetrow/jetrow/cli";
 * import assert from "node:assert/strict";
 *
 * const written: string[] = [];
 * const out = { write: (text: string) => Promise.resolve(void written.push(text)) };
 * const { signal } = new AbortController();
 * const io = { stdin: (async function* () {})(), stdout: out, stderr: out, env: {}, signal };
 * assert.equal(await main(["--version"], io), 0);
 * assert.match(written.join(""), /^\d+\.\d+\.\d+\n$/);
 * ```
 */
export async function main(args: readonly string[], io: CliIo): Promise<number> {
  const escaped = escapedIo(io);
  try {
    return await dispatch(args, escaped);
  } catch (error) {
    const { exitCode, lines } = endingOf(error, io.signal);
    // If standard error is closed, the exit code remains.
    await escaped.stderr.write(lines.map((line) => `${line}\n`).join("")).catch(() => {});
    return exitCode;
  }
}

async function dispatch([name, ...rest]: readonly string[], io: CliIo): Promise<number> {
  if (name === undefined) return await wrongUsage(io);
  if (name === "--help" || name === "-h" || name === "help") return await say(HELP, io);
  if (name === "--version" || name === "-V") return await say(`${VERSION}\n`, io);
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (subcommand !== undefined) {
    for (const line of misspeltVariables(io.env, OPTIONS)) {
      await io.stderr.write(`jetrow: ${visible(line)}\n`).catch(() => {});
    }
    return await subcommand(rest, io);
  }
  const known = Object.keys(SUBCOMMANDS).join(", ");
  throw new UsageError(
    `unknown command ${JSON.stringify(name.slice(0, 40))}: use ${known}, --help or --version`,
  );
}

/** Prints the help to standard error if no command is given. */
async function wrongUsage({ stderr }: CliIo): Promise<number> {
  await stderr.write(HELP);
  return 2;
}

async function say(text: string, { stdout }: CliIo): Promise<number> {
  await stdout.write(text);
  return 0;
}

async function run(): Promise<void> {
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      // The first interrupt waits for what is on the wire, the second one does not.
      if (interrupt.signal.aborted) process.exit(130);
      interrupt.abort(new DOMException("interrupted", "AbortError"));
    });
  }
  // A file size limit then fails the write, which is reported. Deno does not deliver this signal.
  process.on("SIGXFSZ", () => {});
  // The NATS client reports to the console; standard output is for receipts only.
  const toStandardError = (...parts: readonly unknown[]): void => {
    process.stderr.write(`${visible(format(...parts))}\n`);
  };
  Object.assign(globalThis.console, { log: toStandardError, info: toStandardError, debug: toStandardError });
  // An abandoned dial or read of standard input would keep the process alive.
  process.exit(await main(process.argv.slice(2), processIo(interrupt.signal)));
}

/** Node has `import.meta.main` from version 24 on. */
function isMain(): boolean {
  if (typeof import.meta.main === "boolean") return import.meta.main;
  const [, script] = process.argv;
  try {
    return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
  } catch {
    return false; // a bundle, or a runtime that names no file
  }
}

if (isMain()) await run();
