/** Runs the suite on Deno: `deno run -A run_deno.ts http://127.0.0.1:<control> [deno | web]`. */

import * as deno from "../../src/runtime/deno.ts";
import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";

const [control, entry] = Deno.args;
await conform(entry === "web" ? web : deno, control!);
