/** Runs that are killed, and later runs that resume from their journals. */

import assert from "node:assert/strict";
import { api, passwordUsers, publisherPermissions } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { receiptsOf } from "./_files.ts";
import { jetrow, onTerminal } from "./_io.ts";
import { ended, Scene } from "./_journal.ts";

/** A duplicate window in nanoseconds, shorter than the publish timeout: no row can be resent without looking for its id. */
const SHORT = { duplicate_window: 1_000_000_000 };

const windowOver = (scene: Scene) => {
  const begun = scene.kinds("begin").map(({ time }) => Date.parse(time));
  return until("the end of the duplicate window", () => Date.now() > Math.max(...begun) + 1000);
};

Deno.test("resume after a kill resends rows whose acknowledgments were lost, and each is stored once", async () => {
  await using scene = await Scene.open();
  await scene.killMidway("down");
  const receipts = scene.kinds("receipt").length;
  const { exitCode, out, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  assert.match(err, /^[\d,]+ rows are already published, according to .*orders\.journal\n/);
  assert.match(err, /[\d,]+ rows of orders were duplicates: ORDERS had them already/);
  assert.equal(receiptsOf(out).length + receipts, 20, "a receipt a piece, in both runs together");
  await scene.assertWhole();
});

Deno.test("resume after a kill publishes rows that never reached the server", async () => {
  await using scene = await Scene.open();
  await scene.killMidway("up");
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  await scene.assertWhole();
});

Deno.test("resume of a killed run without ids is refused if the outcome of rows in flight is unknown", async () => {
  await using scene = await Scene.open({ ids: false });
  await scene.killMidway("down");
  await scene.assertRefused(
    /Cannot resume: \d+ rows of .*orders\.arrow \(batch 0, rows \d+ to \d+\) were on their way .*row \d+ has no id/,
  );
});

Deno.test("resume after the duplicate window looks for the ids and does not resend stored rows", async () => {
  await using scene = await Scene.open({ stream: SHORT });
  await scene.killMidway("down");
  await windowOver(scene);
  const { exitCode, out, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  await scene.assertWhole();
  const last = scene.kinds("outcomes").at(-1);
  const found = receiptsOf(out).reduce((sum, { duplicates }) => sum + duplicates!, 0);
  assert.ok(found > 0, `rows were found: ${JSON.stringify(last)}`);
});

Deno.test("resume after the duplicate window sends rows that are not stored", async () => {
  await using scene = await Scene.open({ stream: SHORT });
  await scene.killMidway("up");
  await windowOver(scene);
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  assert.ok(scene.kinds("outcomes").some(({ outcomes }) => outcomes.flat().includes("unsent")));
  await scene.assertWhole();
});

Deno.test("resume after the duplicate window is refused if rows may have been removed from the stream", async () => {
  await using scene = await Scene.open({ stream: SHORT });
  await scene.killMidway("up");
  await windowOver(scene);
  await scene.ask((nc) => api(nc, "STREAM.PURGE.ORDERS"));
  await scene.assertRefused(
    /Cannot resume: \d+ rows were not found in ORDERS, but [\d,]+ messages behind sequence \d+ are no longer there/,
  );
});

Deno.test("resume after the duplicate window is refused for a user that cannot read the stream", async () => {
  const admin = { username: "admin", password: "all" };
  const worker = { username: "worker", password: "few" };
  const permissions = publisherPermissions({ stream: "ORDERS", subjects: ["orders.*"] });
  await using scene = await Scene.open({
    stream: SHORT,
    config: passwordUsers(admin, { ...worker, permissions }),
    user: { authMode: "user_password", ...admin },
  });
  const env = { JETROW_PASSWORD: "few" };
  const more = ["--username", "worker"];
  await scene.killMidway("down", more, "--receipt", env);
  await windowOver(scene);
  await scene.assertRefused(
    /looking for their ids in ORDERS has failed: .*\$JS\.API\.STREAM\.MSG\.GET\.ORDERS/,
    more,
    1,
    { env },
  );
});

Deno.test("a run that is killed repeatedly completes, each row stored once", async () => {
  await using scene = await Scene.open({ rows: 4000 });
  await scene.killMidway("down");
  await scene.killMidway("up", [], "--resume");
  await scene.killMidway("down", [], "--resume");
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  assert.equal(scene.kinds("resume").length, 3);
  await scene.assertWhole();
});

for (const ids of [true, false]) {
  Deno.test(`resume of a run whose server was killed ${ids ? "publishes its rows with ids" : "is refused for unknown rows without ids"}`, async () => {
    await using scene = await Scene.open({ ids });
    const child = scene.start("--receipt");
    const ending = ended(child);
    await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
    await scene.server.kill();
    const { code, err } = await ending;
    assert.equal(code, 1, err);
    assert.match(err, /jetrow: these are rows of batch \d+ of /);
    assert.match(err, /jetrow: [\d,]+ rows acknowledged .*, [\d,]+ of unknown fate .*not sent\n/);
    assert.match(
      err,
      /jetrow: --retry DURATION reconnects .*\njetrow: to continue, run again with --resume .*journal /,
    );
    const begun = scene.kinds("begin").length;
    assert.equal(scene.kinds("receipt").length + scene.kinds("outcomes").length, begun, "every piece has its end");
    await scene.server.restart();
    scene.proxy.cut();
    if (!ids) return await scene.assertRefused(/row \d+ has no id/);
    const resumed = await scene.resume();
    assert.equal(resumed.exitCode, 0, resumed.err);
    await scene.assertWhole();
  });
}

Deno.test("resume resends exactly the rows that the server refused, also without ids", async () => {
  await using scene = await Scene.open({ ids: false, stream: { max_msgs: 730, discard: "new" } });
  const { exitCode, err } = await scene.publish();
  assert.equal(exitCode, 1);
  assert.match(err, /maximum messages exceeded/);
  const outcomes = scene.kinds("outcomes");
  assert.ok(outcomes.length > 0 && outcomes[0]!.outcomes.flat().includes("rejected"), JSON.stringify(outcomes));
  const config = { name: "ORDERS", subjects: ["orders.>"], max_msgs: -1, discard: "new" };
  await scene.ask((nc) => api(nc, "STREAM.UPDATE.ORDERS", config));
  const resumed = await scene.resume();
  assert.equal(resumed.exitCode, 0, resumed.err);
  assert.match(resumed.err, /^730 rows are already published.*\npublished 1,270 rows/);
  await scene.assertWhole();
});

Deno.test("an interrupt with rows in flight prints their outcomes, exits with 130, and the run can be resumed", async () => {
  await using scene = await Scene.open();
  const child = scene.start("--receipt");
  const ending = ended(child);
  await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
  scene.proxy.stall("down");
  await until("a piece on its way", () => scene.kinds("begin").length > scene.kinds("receipt").length);
  child.kill("SIGINT");
  const { code, err } = await ending;
  assert.equal(code, 130, err);
  assert.match(err, /jetrow: interrupted\njetrow: [\d,]+ rows acknowledged .*of unknown fate/);
  assert.ok(scene.kinds("outcomes").some(({ outcomes }) => outcomes.flat().includes("unknown")));
  scene.proxy.cut();
  scene.proxy.resume();
  const resumed = await scene.resume();
  assert.equal(resumed.exitCode, 0, resumed.err);
  await scene.assertWhole();
});

Deno.test("Ctrl-C in a terminal removes the progress line, prints the outcomes and exits with 130", async () => {
  await using scene = await Scene.open();
  scene.proxy.delay({ down: 50 });
  const shown = await onTerminal(scene.args("--receipt", scene.proxy.url), "in flight");
  if (shown === undefined) return;
  const { exitCode, screen } = shown;
  assert.equal(exitCode, 130, screen);
  const [line, said] = screen.split("\r\x1b[K").slice(-2);
  assert.match(line!, /in flight/);
  assert.match(said!, /jetrow: interrupted\r\njetrow: [\d,]+ rows acknowledged .* not sent\r\n/);
  const resumed = await scene.resume();
  assert.equal(resumed.exitCode, 0, resumed.err);
  await scene.assertWhole();
});

Deno.test("--progress=plain prints the progress in lines every five seconds, also to a pipe", async () => {
  await using scene = await Scene.open({ rows: 1500 });
  const child = scene.start("--receipt", ["--progress=plain", "--publish-timeout", "1m"]);
  scene.proxy.delay({ down: 200 });
  const { code, err } = await ended(child);
  assert.equal(code, 0, err);
  assert.match(err, /^[\d,]+ of 1,500 rows {2}\d+% {2}[\d,]+ rows\/s {2}[\d.]+ MB\/s {2}\d+ in flight {2}\d+s left\n/m);
  assert.doesNotMatch(err, /\r/);
  await scene.assertWhole();
});

Deno.test("resume from the journal of a completed run sends nothing", async () => {
  for (const ids of [true, false]) {
    await using scene = await Scene.open({ ids, rows: 500 });
    assert.equal((await scene.publish()).exitCode, 0);
    const { exitCode, out, err } = await scene.resume();
    assert.deepEqual([exitCode, out], [0, ""], err);
    assert.match(err, /^500 rows are already published, .*\nno row was left to publish\n/);
    await scene.assertWhole();
    assert.equal((await scene.resume()).exitCode, 0, "and again");
    assert.equal(await scene.stored(), 500);
  }
});

Deno.test("a run that found no server leaves a journal that a later run can use", async () => {
  await using scene = await Scene.open({ rows: 300 });
  const args = scene.args("--receipt", "nats://127.0.0.1:1");
  assert.equal((await jetrow(args)).exitCode, 1);
  assert.equal(scene.text(), "");
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  await scene.assertWhole();
});

Deno.test("--retry dials again after the server was killed, and each row is stored once", async () => {
  await using scene = await Scene.open();
  const child = scene.start("--receipt", ["--retry", "20s"]);
  const ending = ended(child);
  await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
  await scene.server.kill();
  scene.proxy.cut();
  await scene.server.restart();
  const { code, err } = await ending;
  assert.equal(code, 0, err);
  assert.equal(err.split("jetrow: the connection is lost: dialling again\n").length, 2, "a loss is reported once");
  assert.equal(scene.kinds("begin").length, 20, "each piece is begun once");
  await scene.assertWhole();
});

Deno.test("--retry gives up when no row was acknowledged within its budget, and a later run resumes", async () => {
  await using scene = await Scene.open({ rows: 1000 });
  const child = scene.start("--receipt", ["--retry", "500ms"]);
  const ending = ended(child);
  await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
  await scene.server.kill();
  const { code, err } = await ending;
  assert.equal(code, 1, err);
  await scene.server.restart();
  scene.proxy.cut();
  const resumed = await scene.resume(["--retry", "20s"]);
  assert.equal(resumed.exitCode, 0, resumed.err);
  await scene.assertWhole();
});
