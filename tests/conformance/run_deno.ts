/** Runs the suite on Deno: `deno run -A run_deno.ts http://127.0.0.1:<control> [deno | web | transport-deno]`. */

import * as deno from "../../src/runtime/deno.ts";
import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";
import { connect } from "./transport_deno.ts";

const [control, entry] = Deno.args;
const libraries: Readonly<Record<string, typeof deno>> = { deno, web, "transport-deno": { ...deno, connect } };
await conform(libraries[entry!]!, control!);
