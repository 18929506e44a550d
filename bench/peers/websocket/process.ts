/** Publishes in a process of its own, on the runtime that runs this: a job a line, as JSON. */

import process from "node:process";
import { serve } from "../../support/child.ts";
import { publishOnce } from "./work.ts";

await serve((job) => publishOnce(JSON.parse(job)).then(() => "done"), JSON.stringify({ pid: process.pid }));
process.exit(0);
