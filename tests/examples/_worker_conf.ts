/** The server of `examples/nats/worker.conf`, with ports and a store of the test's own. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type NatsServer, startNatsServer } from "../_support/nats/mod.ts";

/** The path of the configuration. */
export const WORKER_CONF = fileURLToPath(new URL("../../examples/nats/worker.conf", import.meta.url));

/** The environment variables of the configuration. */
export const PASSWORDS = { WORKER_PASSWORD: "worker-secret", ADMIN_PASSWORD: "admin-secret" } as const;

/** Starts the server. The page's origin is the test's own. */
export async function startWorkerServer(origin = "http://localhost:8000"): Promise<NatsServer> {
  let text = readFileSync(WORKER_CONF, "utf8");
  for (const [name, password] of Object.entries(PASSWORDS)) text = text.replace(`$${name}`, JSON.stringify(password));
  const websocket = blockOf(text, "websocket").replace(/^ *listen:.*$/m, "").replace("http://localhost:8000", origin);
  return await startNatsServer({ websocket, config: `authorization {${blockOf(text, "authorization")}}` });
}

/** The lines between a block's braces. */
function blockOf(text: string, name: string): string {
  const from = text.search(new RegExp(`^${name} \\{`, "m"));
  const start = text.indexOf("{", from) + 1;
  let depth = 1;
  for (const { 0: brace, index } of text.slice(start).matchAll(/[{}]/g)) {
    depth += brace === "{" ? 1 : -1;
    if (depth === 0 && from >= 0) return text.slice(start, start + index);
  }
  throw new Error(`${WORKER_CONF} has no block ${name}`);
}
