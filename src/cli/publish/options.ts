/**
 * The options of `jetrow publish`.
 *
 * @module
 */

import { durationMillis } from "../../util/duration.ts";
import type { BatchLimits, Operation, SinkConfig } from "../../types/mod.ts";
import { configOf } from "../options/document.ts";
import { FORM_OPTIONS } from "../options/forms.ts";
import { type HelpGroup, helpOf } from "../options/help.ts";
import type { CliIo } from "../io.ts";
import { type CliOption, type GivenOptions, originOf, readArguments, withEnvironment } from "../options/parse.ts";
import type { ProgressStyle } from "./progress_line.ts";
import { CONFIG_OPTION, CONNECTION_OPTIONS, HELP_OPTION, SECRETS_HELP } from "../options/table.ts";
import { PUBLISHER_OPTIONS } from "../options/publisher_table.ts";
import { UsageError } from "../errors.ts";
import { wordOf } from "../options/choice.ts";

/** An input and where its rows go. */
export interface Source {
  /** A path, or `-` for standard input. */
  readonly file: string;
  /** The destination resource. */
  readonly resource: string;
}

/** The plan of a run. */
export interface PublishPlan {
  /** The inputs, in order. */
  readonly sources: readonly Source[];
  /** The configuration; credentials are properties that are not printed. */
  readonly config: SinkConfig;
  /** The limits of pieces. */
  readonly limits: BatchLimits;
  /** What the rows do at their destination; absent if a column has their operations. */
  readonly operation?: Operation;
  /** How progress is shown. */
  readonly progress: ProgressStyle;
  /** Whether nothing is sent. */
  readonly dryRun: boolean;
  /** How long to reconnect without an acknowledged row, in milliseconds; absent: the first lost connection ends the run. */
  readonly retry?: number;
  /** The path of a new journal. */
  readonly receipt?: string;
  /** The path of a journal to continue. */
  readonly resume?: string;
}

const INPUT_OPTIONS: readonly CliOption[] = [
  {
    name: "resource",
    type: "string",
    value: "NAME",
    env: "JETROW_RESOURCE",
    byDefault: "the file's base name",
    help: "the destination resource of all inputs; required for standard input",
  },
  {
    name: "operation",
    type: "string",
    value: "WORD",
    env: "JETROW_OPERATION",
    byDefault: "insert",
    help: "the operation of every row: insert, update or delete; --operation-column takes it from a column",
  },
  {
    name: "batch-rows",
    type: "count",
    value: "ROWS",
    env: "JETROW_BATCH_ROWS",
    byDefault: "8192",
    help: "maximum rows per piece; each piece has a receipt",
  },
  {
    name: "batch-bytes",
    type: "count",
    value: "BYTES",
    env: "JETROW_BATCH_BYTES",
    byDefault: "16777216",
    help: "maximum bytes of Arrow buffers per piece",
  },
];

const RUN_OPTIONS: readonly CliOption[] = [
  {
    name: "retry",
    type: "string",
    value: "DURATION",
    env: "JETROW_RETRY",
    byDefault: "none: the first lost connection ends the run",
    help: "reconnect and continue; give up after this long without an acknowledged row",
  },
  {
    name: "receipt",
    type: "string",
    value: "FILE",
    env: "JETROW_RECEIPT",
    help: "write a journal to a new file, for --resume and jetrow verify",
  },
  {
    name: "resume",
    type: "string",
    value: "FILE",
    env: "JETROW_RESUME",
    help: "continue the run of this journal, with the same inputs and options; skips acknowledged rows",
  },
  {
    name: "progress",
    type: "string",
    value: "STYLE",
    env: "JETROW_PROGRESS",
    byDefault: "auto",
    help: "auto: a line on a terminal, none in a pipe; plain: a line every five seconds; none",
  },
  {
    name: "dry-run",
    type: "flag",
    env: "JETROW_DRY_RUN",
    byDefault: "no",
    help: "read, encode, measure and count; show the first three messages; do not connect",
  },
  CONFIG_OPTION,
  HELP_OPTION,
];

/** A dry run does not dial, so it needs no server. */
const NOWHERE = { url: "nats://localhost" };

const GROUPS: readonly HelpGroup[] = [
  { title: "Input", options: INPUT_OPTIONS },
  { title: "Destination", options: PUBLISHER_OPTIONS },
  { title: "Forms of values", options: FORM_OPTIONS },
  { title: "Connection", options: CONNECTION_OPTIONS },
  { title: "Run", options: RUN_OPTIONS },
];
/** The options of `jetrow publish`. */
export const PUBLISH_OPTIONS: readonly CliOption[] = GROUPS.flatMap(({ options }) => options);

/** The output of `jetrow publish --help`. */
export const PUBLISH_HELP = `jetrow publish FILE... --url URL --stream TEMPLATE --subject TEMPLATE [options]

Publishes each row of Arrow IPC or Parquet files as one acknowledged JSON message to a NATS JetStream stream. FILE is a
path, or - for standard input in the IPC stream format. Prints the receipt of each acknowledged piece as a line of JSON
on standard output; everything else goes to standard error.

  jetrow publish orders.arrow --url nats://localhost --stream ORDERS --subject 'orders.{resource}'
  jetrow publish orders.parquet --context prod --config orders.json --receipt orders.journal

${helpOf(GROUPS)}
${SECRETS_HELP}

Exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
`;

/**
 * Reads the options of `jetrow publish`.
 *
 * @throws {UsageError} or {ConfigError} if one is wrong, {RouteError} if a resource does not fit the templates
 */
export async function publishPlan(args: readonly string[], io: CliIo): Promise<PublishPlan | undefined> {
  const given = withEnvironment(readArguments(args, PUBLISH_OPTIONS), PUBLISH_OPTIONS, io.env);
  if (given.values.get("help") === true) return undefined;
  const sources = sourcesOf(given);
  const dryRun = given.values.get("dry-run") === true;
  const config = await configOf(given, PUBLISH_OPTIONS, io, dryRun ? NOWHERE : {});
  return {
    sources,
    config,
    limits: {
      ...limitOf(given, "batch-rows", "batchMaxRows"),
      ...limitOf(given, "batch-bytes", "batchMaxBytes"),
    },
    ...operationOf(given, config),
    progress: progressOf(wordOf(given, "progress", ["auto", "plain", "none"]), io),
    dryRun,
    ...retryOf(given),
    ...journalOf(given),
  };
}

function operationOf(given: GivenOptions, { operationColumn }: SinkConfig): { operation?: Operation } {
  if (operationColumn === undefined) return { operation: wordOf(given, "operation", ["insert", "update", "delete"]) };
  if (!given.values.has("operation")) return {};
  throw new UsageError(
    `${originOf(given, "operation")} must not be set with ${originOf(given, "operation-column")}: the column ` +
      `${JSON.stringify(operationColumn)} has the operations`,
  );
}

function retryOf(given: GivenOptions): { retry?: number } {
  const text = given.values.get("retry");
  if (text === undefined) return {};
  return { retry: durationMillis(text, originOf(given, "retry")) };
}

function journalOf(given: GivenOptions): { receipt?: string; resume?: string } {
  const [receipt, resume, dryRun] = ["receipt", "resume", "dry-run"].map((name) => given.values.get(name));
  const origin = (name: string) => originOf(given, name);
  if (receipt !== undefined && resume !== undefined) {
    throw new UsageError(
      `${origin("receipt")} begins a journal, ${origin("resume")} continues the one it names: give one of them`,
    );
  }
  if (dryRun === true && (receipt ?? resume) !== undefined) {
    const journal = origin(receipt === undefined ? "resume" : "receipt");
    throw new UsageError(`${origin("dry-run")} sends nothing: ${journal} does not go with it`);
  }
  return {
    ...(typeof receipt === "string" && { receipt }),
    ...(typeof resume === "string" && { resume }),
  };
}

function sourcesOf(given: GivenOptions): Source[] {
  const { positionals, values } = given;
  if (positionals.length === 0) throw new UsageError("publish needs a FILE, or - for standard input");
  if (positionals.includes("")) throw new UsageError("a FILE has an empty name: is a variable of the shell not set?");
  if (positionals.filter((file) => file === "-").length > 1) {
    throw new UsageError("- can be given once: there is one standard input");
  }
  const named = values.get("resource");
  if (named === "") throw new UsageError(`${originOf(given, "resource")} must not be empty`);
  return positionals.map((file) => ({ file, resource: typeof named === "string" ? named : baseName(file) }));
}

/** Returns the resource that a file's name gives: the name without folders and without the ending of its format. */
export function resourceOf(file: string): string {
  return file.split(/[/\\]/).at(-1)!.replace(/(?<=.)\.(?:arrow|arrows|ipc|feather|parquet)$/i, "");
}

function baseName(file: string): string {
  const name = resourceOf(file);
  if (file === "-" || name === "" || /^\/(?:dev|proc)\//.test(file)) {
    throw new UsageError(`--resource is required: ${file === "-" ? "standard input" : file} has no name`);
  }
  return name;
}

function limitOf(given: GivenOptions, name: string, key: keyof BatchLimits): BatchLimits {
  const value = given.values.get(name);
  if (value === undefined) return {};
  if (typeof value === "number" && value > 0) return { [key]: value };
  throw new UsageError(
    `${originOf(given, name)} must be a whole number of at least 1: received ${JSON.stringify(value)}`,
  );
}

function progressOf(word: "auto" | "plain" | "none", { stderr }: CliIo): ProgressStyle {
  if (word !== "auto") return word;
  return stderr.columns === undefined ? "none" : "line";
}
