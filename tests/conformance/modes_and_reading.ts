/** Checks of the publish modes, and of the functions that read. */

import { idBatch, numberBatch } from "../_support/arrow/batches.ts";
import { compareVersions } from "../_support/nats/versions.ts";
import { equal, ok, rejection } from "./assert.ts";
import { configOf, count, type Stage } from "./context.ts";

/** The oldest server that supports each mode. */
const MODES = [["atomic", "2.12.1"], ["fast", "2.14.0"]] as const;

/** Atomic and fast delivery store the rows; on a server that is too old, opening fails before anything is created. */
export async function modes(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  for (const [publishMode, since] of MODES) {
    const config = configOf(stage, publishMode.toUpperCase(), { publishMode });
    await using nc = await connect(config);
    const opening = library.openRun(nc, config);
    if (compareVersions(nc.info!.version, since) < 0) {
      const error = await rejection(opening, `${publishMode} on an old server`);
      ok(library.isJetrowError(error) && error.code.startsWith("route."), String(error));
      continue;
    }
    await using run = await opening;
    await run.applyAll(library.batchesOf("r", [numberBatch(1500), numberBatch(500, 1500)]));
    equal([(await run.commit()).rows, await count(nc, config.stream)], [2000, 2000], publishMode);
  }
}

/** testConnection(), inspect() and verifyReceipt(). */
export async function reading(stage: Stage): Promise<void> {
  const { library, connect } = stage;
  const config = configOf(stage, "READ");
  await using nc = await connect(config);
  equal((await library.testConnection(nc)).version, nc.info!.version, "version");
  await using publisher = await library.Publisher.open(nc, config);
  const receipt = await publisher.publish({ resource: "r", rows: idBatch(700) });
  const { ok: isWhole, rows, crc32c, missing } = await library.verifyReceipt(nc, receipt);
  equal([isWhole, rows, crc32c, missing], [true, 700, receipt.crc32c, 0], "verification");
  const findings = await library.inspect(nc, config, { resource: "r" });
  equal(findings.filter(({ severity }) => severity === "error"), [], "findings");
  ok(findings.length > 0, "a stream of one replica without limits has an informational finding");
}
