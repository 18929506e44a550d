/** Checks of runs and sessions without failures. */

import { tableFromIPC } from "apache-arrow";
import { idBatch, numberBatch } from "../_support/arrow/batches.ts";
import { equal, ok, rejection } from "./assert.ts";
import { configOf, count, fromBase64, type Stage, stored } from "./context.ts";

/** A bounded run: one batch, then a sequence in pieces, totals, the stored bytes. */
export async function boundedRun(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  const config = configOf(stage, "RUN");
  await using nc = await connect(config);
  await using run = await library.openRun(() => connect(config), config);
  const receipt = await run.apply({ resource: "eu", rows: numberBatch(10), operations: "update" });
  equal([receipt.uri, receipt.rows, receipt.sequences], [`nats://${config.stream}/eu`, 10, [[1, 10]]], "receipt");
  const pieces: number[] = [];
  const batches = library.batchesOf("us", [numberBatch(2500, 10), numberBatch(500, 2510)]);
  const [total] = await run.applyAll(batches, { batchMaxRows: 1000, onReceipt: ({ rows }) => void pieces.push(rows) });
  equal(pieces, [1000, 1000, 500, 500], "pieces");
  equal([total?.resource, total?.rows, total?.batches], ["us", 3000, 2], "total");
  const { rows, resources } = await run.commit();
  equal([rows, resources.map(({ resource }) => resource)], [3010, ["eu", "us"]], "commit");
  equal(await count(nc, config.stream), 3010, "stored");
  const first = await stored(nc, config.stream, 1);
  equal(first, {
    head: "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: update\r\n" +
      `Nats-Expected-Stream: ${config.stream}\r\n\r\n`,
    body: '{"n":0}',
  }, "the first message");
  equal((await stored(nc, config.stream, 3010)).body, '{"n":3009}', "the last message");
}

/** Every Arrow type is sent as it is encoded: the receipt's checksum is that of the expected bodies. */
export async function everyType(stage: Stage): Promise<void> {
  const { library, connect, fixtures } = stage;
  const config = configOf(stage, "TYPES");
  await using nc = await connect(config);
  await using run = await library.openRun(nc, config);
  let published = 0;
  for (const { name, ipc, lines } of fixtures.golden) {
    if (lines === undefined) continue;
    const expected = fromBase64(lines);
    const bodies = expected.filter((byte) => byte !== 0x0a);
    const receipt = await run.apply({ resource: name, rows: tableFromIPC(fromBase64(ipc)) });
    equal([receipt.rows, receipt.crc32c], [expected.length - bodies.length, library.crc32c(bodies)], name);
    published += receipt.rows;
  }
  equal((await run.commit()).rows, published, "rows");
  equal(await count(nc, config.stream), published, "stored");
}

/** Rows with event ids are stored once, under the documented message id. */
export async function duplicates(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  const config = configOf(stage, "IDS", { namespace: { tenant: "t", pipeline: "p", sinkConnection: "s" } });
  await using nc = await connect(config);
  const publish = async () => {
    await using publisher = await library.Publisher.open(nc, config);
    return await publisher.publish({ resource: "r", rows: idBatch(20) });
  };
  equal([(await publish()).duplicates, (await publish()).duplicates], [0, 20], "duplicates");
  equal(await count(nc, config.stream), 20, "stored");
  const scope = { ...config.namespace, stream: config.stream, subject: `${config.stream}.r`, resource: "r" };
  const id = library.messageId({ tenant: "t", pipeline: "p", sinkConnection: "s", ...scope }, "evt-000007");
  ok((await stored(nc, config.stream, 8)).head.includes(`\r\nNats-Msg-Id: ${id}\r\n`), "the id is another");
}

/** A session: epochs in order, repeated commits, an abort, a mismatch that does not poison it. */
export async function session(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  const config = configOf(stage, "SESSION");
  await using session = await library.openSession(() => connect(config), config, "attempt-1");
  const epoch = (epoch: number) => ({ attempt: "attempt-1", epoch });
  await session.beginEpoch(epoch(7));
  await session.apply({ resource: "b", rows: numberBatch(3) }, epoch(7));
  await session.applyAll(library.batchesOf("a", [numberBatch(4)]), epoch(7));
  const totals = await session.commitEpoch(epoch(7));
  equal(totals.map(({ resource, rows }) => [resource, rows]), [["a", 4], ["b", 3]], "totals");
  equal(await session.commitEpoch(epoch(7)), totals, "a repeated commit");
  await session.beginEpoch(epoch(8));
  const mismatch = await rejection(session.apply({ resource: "a", rows: numberBatch(1) }, epoch(9)), "another epoch");
  ok(library.isJetrowError(mismatch) && mismatch.code === "state.epoch_mismatch", String(mismatch));
  await session.abortEpoch(epoch(8));
  await session.beginEpoch(epoch(8));
  equal(await session.commitEpoch(epoch(8)), [], "an empty epoch");
  await session.close();
}
