/** Run by Node: passes jobs to a worker in workerd, one line of JSON per job. `host.ts <miniflare> <bundle>` */

import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

const [miniflare, scriptPath] = process.argv.slice(2);
const { Miniflare } = await import(miniflare!);
const worker = new Miniflare({ modules: true, scriptPath, compatibilityDate: "2026-01-01" });
try {
  await worker.ready;
  process.stdout.write(`${JSON.stringify({ pid: pidOfWorkerd() })}\n`);
  for await (const body of createInterface({ input: process.stdin })) {
    const answer = await worker.dispatchFetch("http://worker/", { method: "POST", body });
    if (!answer.ok) throw new Error(await answer.text());
    process.stdout.write(`${await answer.text()}\n`);
  }
} finally {
  await worker.dispose();
}

/** The workerd process among this one's children; undefined without /proc. */
function pidOfWorkerd(): number | undefined {
  try {
    const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
    return children.map(Number).find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd"));
  } catch {
    return undefined;
  }
}
