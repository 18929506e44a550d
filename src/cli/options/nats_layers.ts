/**
 * Connection settings that are made for the `nats` command: contexts, and the variables of NATS.
 *
 * @module
 */

import { credsSettings } from "./creds_file.ts";
import type { Layer } from "./layers.ts";
import { contextLayer } from "./nats_context.ts";
import { contentOf, serversOf, type Surroundings } from "./nats_values.ts";
import { type GivenOptions, originOf } from "./parse.ts";

/** The server of a context without a URL, as for `nats`. */
const DEFAULT_SERVER = "nats://127.0.0.1:4222";

/**
 * Returns the sources of what neither an option nor a JETROW_ variable gives, the first one to use first: the context that
 * the user names, then NATS_URL and NATS_CREDS, then the context of NATS_CONTEXT. `nats` lets NATS_URL override every
 * context, so for the context of NATS_CONTEXT that is what a user expects. The context that is selected is not used.
 */
export async function natsLayers(given: GivenOptions, around: Surroundings): Promise<readonly Layer[]> {
  const name = given.values.get("context");
  const inherited = around.env.NATS_CONTEXT;
  const variables = variablesLayer(around);
  if (typeof name === "string") {
    const context = await contextLayer(name, originOf(given, "context"), around);
    return [context, variables, DEFAULT_LAYER];
  }
  return inherited ? [variables, await contextLayer(inherited, "NATS_CONTEXT", around), DEFAULT_LAYER] : [variables];
}

/** The last source if there is a context. */
const DEFAULT_LAYER: Layer = new Map([
  ["url", { origin: "the default server of a context", read: () => DEFAULT_SERVER }],
]);

function variablesLayer(around: Surroundings): Layer {
  const { NATS_URL, NATS_CREDS } = around.env;
  const creds = { value: NATS_CREDS ?? "", origin: "NATS_CREDS" };
  return new Map([
    ...(NATS_URL ? [["url", { origin: "NATS_URL", read: () => serversOf(NATS_URL) }] as const] : []),
    ...(NATS_CREDS ? credsSettings(creds.origin, () => contentOf(creds, around)) : []),
  ]);
}
