/**
 * Finds the file of a context of the `nats` command.
 *
 * @module
 */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { misspelt } from "../../util/nearest.ts";
import { UsageError } from "../errors.ts";
import { systemCode } from "../file_fault.ts";
import type { CliIo } from "../io.ts";
import { homeFolder } from "./nats_values.ts";

/** The maximum number of names in a message. */
const MOST_NAMES = 40;

/**
 * Returns the path of a context's file. As with `nats`, the name may also be the path of an existing `.json` file. The
 * context that `nats` has selected is never used by itself.
 *
 * @throws {UsageError} if there is none; it lists the names of the contexts that exist
 */
export async function findContext(name: string, origin: string, { env }: Pick<CliIo, "env">): Promise<string> {
  if (name.endsWith(".json") && await exists(name)) return name;
  if (name === "" || /[/\\]|\.\./.test(name)) {
    throw new UsageError(
      `${origin} must be the name of a context or the path of an existing .json file: received ${JSON.stringify(name)}`,
    );
  }
  const folder = join(env.XDG_CONFIG_HOME || join(homeFolder({ env }), ".config"), "nats", "context");
  const path = join(folder, `${name}.json`);
  if (await exists(path)) return path;
  throw noContext(name, origin, folder, await contextsIn(folder));
}

function noContext(name: string, origin: string, folder: string, names: readonly string[]): UsageError {
  const none = `${origin} ${name}: there is no such context in ${folder}`;
  if (names.length === 0) return new UsageError(`${none}, which has no contexts`);
  const meant = misspelt(name, names);
  const hint = meant === undefined ? "" : `: did you mean ${meant}?`;
  const rest = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return new UsageError(`${none}${hint || "."} Contexts: ${names.slice(0, MOST_NAMES).join(", ")}${rest}`);
}

async function contextsIn(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length)).sort();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

/** Returns whether the path exists. If the file is not valid, reading it fails later. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return !["ENOENT", "ENOTDIR"].includes(systemCode(error)!);
  }
}
