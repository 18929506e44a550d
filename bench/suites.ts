/** The suites by name. */

import { modes } from "./fast.ts";
import { publish } from "./publish.ts";
import type { Bench } from "./support/measure.ts";

/** What `deno task bench` runs, in this order. */
export const suites: Readonly<Record<string, (bench: Bench) => Promise<void>>> = { publish, modes };
