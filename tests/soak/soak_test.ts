import assert from "node:assert/strict";
import { soak } from "./_soak.ts";

Deno.test("100,000 rows are stored once each while the server is killed and restarted eight times", async () => {
  const report = await soak({ rows: 100_000, ends: 8, seed: 7 });
  assert.equal(report.killed + report.stopped, 8);
  assert.ok(report.connections > 4, "connections were lost");
});
