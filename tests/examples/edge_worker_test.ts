import { type Table, tableFromArrays, tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { connect } from "../../src/runtime/deno.ts";
import { addStream, api, infoOf, storedIn } from "../_support/nats/mod.ts";
import { demoTable } from "../_support/arrow/mod.ts";
import { miniflareModule, nodeProgram } from "../_support/runtimes.ts";
import { bundle } from "./_bundle.ts";
import { start } from "./_program.ts";
import { PASSWORDS, startWorkerServer } from "./_worker_conf.ts";

const node = await nodeProgram();
const miniflare = await miniflareModule();

const TOKEN = "upload-secret";

Deno.test({
  name: "the edge worker publishes Arrow over WebSocket, with only the permissions that it needs",
  ignore: node === undefined || miniflare === undefined,
}, async (t) => {
  await using server = await startWorkerServer();
  const admin = { authMode: "user_password", username: "admin", password: PASSWORDS.ADMIN_PASSWORD } as const;
  await using nc = await connect({ url: server.url, ...admin });
  await addStream(nc, { name: "EVENTS", subjects: ["events.>"] });

  // The bundle must contain no Node modules: workers have none without nodejs_compat.
  const how = { platform: "browser", target: "es2022", conditions: ["workerd", "worker", "browser"] } as const;
  const script = bundle("edge_worker/worker.ts", { ...how, conditions: [...how.conditions] });
  const bindings = { NATS_URL: server.wsUrl, NATS_PASSWORD: PASSWORDS.WORKER_PASSWORD, UPLOAD_TOKEN: TOKEN };
  const host = fileURLToPath(new URL("_workerd.ts", import.meta.url));
  await using worker = start([node!, host, miniflare!, script, JSON.stringify(bindings)], {
    endsWithInput: true,
  });
  const [url] = await worker.line(/http\S+/);

  const post = async (path: string, body: BodyInit, token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(new URL(path, url), { method: "POST", headers, body });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const ipc = (table: Table) => new Uint8Array(tableToIPC(table, "stream"));
  const arrow = (rows: number) => ipc(demoTable(rows, 500));

  await t.step("answers with the receipt", async () => {
    const { status, body } = await post("eu", arrow(2000));
    assert.deepEqual([status, body.rows, body.duplicates, body.resources[0].resource], [200, 2000, 0, "eu"]);
    const [first] = await storedIn(nc, "EVENTS");
    assert.equal(first?.subject, "events.eu");
    assert.equal(JSON.parse(first!.body)._filament_event_id, "evt-000000000");
  });

  await t.step("stores rows that are sent again once", async () => {
    const { body } = await post("eu", arrow(2100));
    assert.deepEqual([body.rows, body.duplicates], [2100, 2000]);
    assert.equal((await infoOf(nc, "EVENTS")).state.messages, 2100);
  });

  await t.step("answers errors with the status of the side that caused them", async () => {
    assert.equal((await post("eu", arrow(1), "guess")).status, 401);
    const anonymous = await fetch(url);
    await anonymous.body?.cancel();
    assert.equal(anonymous.status, 401);
    assert.equal((await post("eu", "")).status, 400);
    assert.equal((await post("", arrow(1))).status, 404);
    assert.equal((await post("%E0%A4%A", arrow(1))).status, 404);
    assert.equal((await post("eu", "not an Arrow file")).status, 400);
    assert.equal((await post("eu", arrow(100).slice(0, -500))).status, 400); // truncated
    const route = await post("e%20u", arrow(1));
    assert.deepEqual([route.status, route.body.code], [404, "route.subject"]);
    const encode = await post("eu", ipc(tableFromArrays({ _filament_event_id: [1] })));
    assert.deepEqual([encode.status, encode.body.code], [422, "encode.id"]);
  });

  await t.step("answers the next request of a connection after it refused a large body", async () => {
    for (const [path, token, status] of [["e%20u", TOKEN, 404], ["eu", "guess", 401], ["", TOKEN, 404]] as const) {
      assert.equal((await post(path, arrow(20_000), token)).status, status);
      assert.equal((await post("eu", arrow(1))).status, 200);
    }
  });

  await t.step("refuses all requests if no token is configured", async () => {
    await using open = start(
      [node!, host, miniflare!, script, JSON.stringify({ ...bindings, UPLOAD_TOKEN: undefined })],
      { endsWithInput: true },
    );
    const [url] = await open.line(/http\S+/);
    for (const authorization of ["Bearer undefined", "Bearer ", "Bearer", ""]) {
      const answer = await fetch(new URL("eu", url), { method: "POST", headers: { authorization }, body: arrow(1) });
      await answer.body?.cancel();
      assert.equal(answer.status, 401, authorization);
    }
  });

  await t.step("reports the outcome of each row of a failed request", async () => {
    await api(nc, "STREAM.UPDATE.EVENTS", { name: "EVENTS", subjects: ["events.>"], max_msgs: 2105, discard: "new" });
    const { status, body } = await post("us", arrow(10));
    assert.deepEqual([status, body.code], [503, "publish.rejected"]);
    assert.deepEqual([body.rows.acked, body.rows.rejected + body.rows.unsent], [5, 5]);
  });

  await t.step("reports that the server cannot be reached", async () => {
    await server.kill();
    const { status, body } = await post("eu", arrow(1));
    assert.deepEqual([status, body.code], [503, "connection.refused"]);
    assert.ok(!JSON.stringify(body).includes(PASSWORDS.WORKER_PASSWORD));
  });
});
