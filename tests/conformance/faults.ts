/** Checks of failures: a cut connection, an abort, a full stream. */

import { idBatch, numberBatch } from "../_support/arrow/batches.ts";
import { equal, ok, rejection } from "./assert.ts";
import { ask, configOf, count, publishError, type Stage } from "./context.ts";

/** The connection is cut with rows on the wire: each is unknown, and every later call throws the same error. */
export async function cut(stage: Stage): Promise<void> {
  const { library, connect, env } = stage;
  const config = configOf(stage, "CUT", { url: env.proxyUrl });
  const run = await library.openRun(() => connect(config), config);
  await run.apply({ resource: "r", rows: numberBatch(3) });
  await stage.tell("drop");
  const applying = rejection(run.apply({ resource: "r", rows: numberBatch(5) }), "apply over a cut connection");
  await stage.tell("cut");
  const error = publishError(library, await applying, "publish.disconnected", "uncertain");
  equal(error.rowOutcomes.counts, { acked: 0, duplicate: 0, rejected: 0, unknown: 5, unsent: 0 }, "outcomes");
  equal(error.rowOutcomes.unsettled(), [0, 1, 2, 3, 4], "unsettled");
  ok(await rejection(run.commit(), "commit after a failure") === error, "commit throws another error");
  await run[Symbol.asyncDispose]();
}

/** A sequence continues over another connection after a cut; rows with ids are stored once. */
export async function continues(stage: Stage): Promise<void> {
  const { library, connect, env } = stage;
  const config = configOf(stage, "AGAIN", { url: env.proxyUrl });
  const batches = [0, 50, 100].map((first) => ({ resource: "r", rows: idBatch(50, { first }) }));
  let receipts = 0;
  const { rows } = await library.publishAll(() => connect(config), config, batches, {
    budget: "2m",
    onReceipt: async () => {
      if (receipts++ === 0) await stage.tell("cut");
    },
  });
  equal([rows, receipts], [150, 3], "rows and receipts");
  await using nc = await connect(configOf(stage, "AGAIN"));
  equal(await count(nc, config.stream), 150, "stored");
}

/** An abort ends a call at once, with the reason as its cause; a caller's connection stays open. */
export async function abort(stage: Stage): Promise<void> {
  const { library, connect, env } = stage;
  const config = configOf(stage, "ABORT", { url: env.proxyUrl });
  await using nc = await connect(config);
  const run = await library.openRun(nc, config);
  await run.apply({ resource: "r", rows: numberBatch(1) });
  await stage.tell("drop");
  const controller = new AbortController();
  const reason = new Error("enough");
  const applying = rejection(run.apply({ resource: "r", rows: numberBatch(4) }, controller), "an aborted apply");
  controller.abort(reason);
  const error = await applying;
  ok(library.isJetrowError(error) && error.code === "publish.aborted", String(error));
  ok(error.cause === reason, `the cause is ${error.cause}`);
  await stage.tell("resume");
  await run.abort();
  ok(!nc.isClosed(), "the caller's connection was closed");
}

/** A full stream refuses rows: some are stored, each of the others is known not to be. */
export async function full(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  const config = configOf(stage, "FULL");
  await using nc = await connect(config);
  const limits = { max_msgs: 4, discard: "new", storage: "memory", num_replicas: 1 };
  const { stream: name } = config;
  await ask(nc, `STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], retention: "limits", ...limits });
  const run = await library.openRun(nc, config);
  const applying = rejection(run.apply({ resource: "r", rows: numberBatch(10) }), "a full stream");
  const error = publishError(library, await applying, "publish.rejected", "partial");
  const { acked, rejected, unsent } = error.rowOutcomes.counts;
  equal([acked, rejected + unsent, error.row], [4, 6, 4], "outcomes");
  // JSStreamStoreFailedF, with the store's own words: "maximum messages exceeded".
  equal(error.serverCode, 10077, error.message);
  equal(await count(nc, name), 4, "stored");
}
