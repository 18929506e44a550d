/** Runs the suite on Bun: `bun run_bun.ts http://127.0.0.1:<control> [bun | web]`. */

import process from "node:process";
import * as bun from "../../src/runtime/bun.ts";
import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";

const [control, entry] = process.argv.slice(2);
await conform(entry === "web" ? web : bun, control!);
