/** Run by Node: sends one request to a worker in workerd. `host_workerd.ts <miniflare> <bundle> <control> [flag...]` */

import process from "node:process";

const [miniflare, scriptPath, control, ...compatibilityFlags] = process.argv.slice(2);
const { Miniflare } = await import(miniflare!);
const worker = new Miniflare({ modules: true, scriptPath, compatibilityDate: "2026-01-01", compatibilityFlags });
try {
  const answer = await worker.dispatchFetch(`http://worker/?control=${encodeURIComponent(control!)}`);
  if (!answer.ok) throw new Error(await answer.text());
} finally {
  await worker.dispose();
}
