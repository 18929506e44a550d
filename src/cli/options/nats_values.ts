/**
 * Reads values that are written for NATS clients: lists of servers, and references to files, variables and embedded data.
 * The rules are those of github.com/nats-io/nats.go and github.com/nats-io/jsm.go/natscontext.
 *
 * @module
 */

import { homedir } from "node:os";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io.ts";
import { readText } from "./read_text.ts";

/** A field of a context, or a variable, that may contain a reference. */
export interface Reference {
  /** Its value. */
  readonly value: string;
  /** Its name in errors. */
  readonly origin: string;
}

/** The environment in which references are resolved, and the signal that ends the reading of a file. */
export type Surroundings = Pick<CliIo, "env" | "signal">;

/** The prefixes of references; everything else is a path or the value itself. */
const SCHEME = /^(?:(file|env|op|nsc):\/\/|(data):)/i;

/**
 * Returns the URLs of a list of servers: separated by commas, perhaps with white space around them, a slash after them,
 * and no scheme.
 */
export function serversOf(list: string): string | readonly string[] {
  const servers = list.split(",").map((server) => server.trim().replace(/\/$/, "")).filter((server) => server !== "");
  // The option's rule refuses an empty list, and shows it as it was written.
  if (servers.length === 0) return list;
  return servers.map((server) => server.includes("://") ? server : `nats://${server}`);
}

/** Returns the path of a field that names a file. Relative paths start at the working directory. */
export function pathOf({ value, origin }: Reference, { env }: Pick<CliIo, "env">): string {
  const scheme = schemeOf(value);
  if (scheme !== undefined && scheme !== "file") throw new UsageError(`${origin} must be a path: received ${scheme}:`);
  const path = value.replace(/^file:\/\//i, "").replace(
    /\$(?:\{([^}]*)\}|(\w+))/g,
    (_, braced: string | undefined, bare: string | undefined) => env[braced ?? bare ?? ""] ?? "",
  );
  return path.replace(/^~(?=$|[/\\])/, () => homeFolder({ env }));
}

/** Returns the content that a field refers to: of the file that it names, of a variable, or of the field. */
export async function contentOf(reference: Reference, around: Surroundings): Promise<string> {
  const { value, origin } = reference;
  switch (schemeOf(value)) {
    case "env":
      return variable(value.slice("env://".length), origin, around);
    case "data":
      return embedded(value, origin);
    case "op":
    case "nsc":
      throw new UsageError(
        `${origin} is a reference of the form ${schemeOf(value)}://, which jetrow does not resolve. ` +
          `Use a file, env://VARIABLE or data:;base64,...`,
      );
    default:
      return await readText(pathOf(reference, around), `${origin}:`, around.signal);
  }
}

/** Returns a secret: the field itself, unless the field refers to something that holds the secret. */
export async function secretOf(reference: Reference, around: Surroundings): Promise<string> {
  if (schemeOf(reference.value) === undefined) return reference.value;
  return (await contentOf(reference, around)).replace(/[\r\n]+$/, "");
}

/** Returns the user's home folder. On Deno `os.homedir()` needs a permission of its own, so it is called last. */
export function homeFolder({ env }: Pick<CliIo, "env">): string {
  return env.HOME || env.USERPROFILE || homedir();
}

function schemeOf(value: string): string | undefined {
  const [, scheme, data] = SCHEME.exec(value) ?? [];
  return (scheme ?? data)?.toLowerCase();
}

/** Does not show the name, which may be a password that looks like a reference. */
function variable(name: string, origin: string, { env }: Surroundings): string {
  const value = env[name];
  if (!value) throw new UsageError(`${origin} refers to an environment variable that is not set`);
  return value;
}

function embedded(value: string, origin: string): string {
  const [, header, payload] = /^data:([^,]*),(.*)$/is.exec(value) ?? [];
  const isBase64 = header?.split(";").some((part) => part.trim() === "base64");
  try {
    if (!isBase64) throw new Error("no base64");
    return new TextDecoder().decode(Uint8Array.from(atob(payload!), (character) => character.charCodeAt(0)));
  } catch {
    throw new UsageError(`${origin} must be embedded data of the form data:;base64,...`);
  }
}
