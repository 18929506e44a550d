/** Publishes in its own process, on the runtime that runs it: one line of JSON per job. */

import process from "node:process";
import { serve } from "../../support/child.ts";
import { publishOnce } from "./work.ts";

await serve((job) => publishOnce(JSON.parse(job)).then(() => "done"), JSON.stringify({ pid: process.pid }));
process.exit(0);
