/** Runs the suite on Node, bundled: `node run_node.mjs http://127.0.0.1:<control> [node | web]`. */

import process from "node:process";
import * as node from "../../src/runtime/node.ts";
import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";

const [control, entry] = process.argv.slice(2);
await conform(entry === "web" ? web : node, control!);
