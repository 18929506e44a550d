/** Killed runs whose rows have their own subjects, headers and ids of several columns, and runs that resume them. */

import assert from "node:assert/strict";
import { natsServerVersion, olderThan, storedIn } from "../../_support/nats/mod.ts";
import { until } from "../../_support/wait.ts";
import { jetrow } from "../_io.ts";
import { Scene } from "../_journal.ts";

const COLUMNS = [
  ...["--subject-escape", "percent", "--header", "X-Id: {row.id}", "--header", "X-Name: {row.name}"],
  ...["--event-id-column", "id,name", "--omit", "name,_filament_event_id"],
];

const version = await natsServerVersion();

/** Asserts that each row is stored once, on its own subject, with its own headers. */
async function assertRouted(scene: Scene): Promise<void> {
  const stored = await scene.ask((nc) => storedIn(nc, "ORDERS"));
  const found = stored.map(({ subject, headers, body }) => {
    const values = new Map(headers);
    return { subject, id: Number(values.get("X-Id")), name: values.get("X-Name"), body };
  }).sort((one, two) => one.id - two.id);
  assert.deepEqual(
    found,
    Array.from({ length: scene.rows }, (_, id) => ({
      subject: `orders.orders.order%20${id}`,
      id,
      name: `order ${id}`,
      body: `{"id":${id}}`,
    })),
  );
}

for (
  const [mode, since] of [["individual", "2.9.0"], ["atomic", "2.12.1"], ["fast", "2.14.0"]] as const
) {
  for (const [window, seconds] of [["within", 120], ["after", 1]] as const) {
    for (const way of ["up", "down"] as const) {
      Deno.test({
        name:
          `each row keeps its subject, headers and id when resumed ${window} the duplicate window (${mode}, ${way})`,
        ignore: olderThan(since, version, `publish mode ${mode}`),
        fn: async () => {
          await using scene = await Scene.open({
            rows: 600,
            subject: "orders.{resource}.{row.name}",
            stream: {
              allow_atomic: mode === "atomic",
              allow_batched: mode === "fast",
              duplicate_window: seconds * 1_000_000_000,
            },
          });
          const columns = [...COLUMNS, "--publish-mode", mode];
          await scene.killMidway(way, columns);
          if (window === "after") {
            const begun = scene.kinds("begin").map(({ time }) => Date.parse(time));
            await until("the end of the duplicate window", () => Date.now() > Math.max(...begun) + 1000 * seconds);
          }
          const { exitCode, err } = await scene.resume(columns);
          assert.equal(exitCode, 0, err);
          await assertRouted(scene);
          assert.ok(scene.kinds("receipt").every(({ subject }) => subject === "orders.orders.*"));
          if (mode === "fast") return;
          const verified = await jetrow(["verify", scene.journal, "--url", scene.server.url]);
          assert.equal(verified.exitCode, 0, verified.err);
        },
      });
    }
  }
}

Deno.test("resume is refused if an option that names columns was changed", async () => {
  await using scene = await Scene.open({ rows: 200, subject: "orders.{resource}.{row.name}" });
  const { exitCode, err } = await scene.publish(...COLUMNS);
  assert.equal(exitCode, 0, err);
  const changed = (from: string, to: string) => COLUMNS.map((value) => value === from ? to : value);
  for (
    const [option, columns] of [
      ["header", changed("X-Id: {row.id}", "X-Id: {row.name}")],
      ["header", changed("X-Id: {row.id}", "X-Id: fixed")],
      ["event-id-column", changed("id,name", "name,id")],
      ["event-id-column", changed("id,name", "id")],
      ["omit", changed("name,_filament_event_id", "name")],
      ["subject-escape", changed("percent", "none")],
      ["operation-column", [...COLUMNS, "--operation-column", "name"]],
    ] as const
  ) {
    const where = new RegExp(`Cannot resume: --(${option}|operation) must be as in .*orders\\.journal`);
    await scene.assertRefused(where, columns, 2);
  }
  assert.equal((await scene.resume(COLUMNS)).exitCode, 0);
});
