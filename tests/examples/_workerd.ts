/** Run by Node: serves a worker in workerd until it is killed. `_workerd.ts <miniflare> <bundle> <bindings as JSON>` */

import process from "node:process";

const [miniflare, scriptPath, bindings] = process.argv.slice(2);
const { Miniflare } = await import(miniflare!);
const worker = new Miniflare({
  modules: true,
  scriptPath,
  compatibilityDate: "2026-01-01",
  bindings: JSON.parse(bindings!),
  host: "127.0.0.1",
  port: 0,
});
process.stdout.write(`listening on ${await worker.ready}\n`);
process.stdin.resume().on("end", () => worker.dispose());
