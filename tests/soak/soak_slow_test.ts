import assert from "node:assert/strict";
import { soak } from "./_soak.ts";

Deno.test("half a million rows are stored once each while the server is killed and restarted thirty times", async () => {
  const report = await soak({ rows: 500_000, ends: 30, seed: 7 });
  assert.equal(report.killed + report.stopped, 30);
  assert.ok(report.connections > 15, "connections were lost");
});
