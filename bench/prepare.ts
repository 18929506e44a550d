/**
 * Making messages from rows: encoding, ids and size checks, compared with encoding alone.
 *
 * @module
 */

import type { RecordBatch } from "apache-arrow";
import { encodeRows } from "../src/json/encode.ts";
import { prepareRows } from "../src/message/prepare.ts";
import { MessageTarget } from "../src/message/target.ts";
import { resolveOptions } from "../src/options/publisher.ts";
import { openBatch } from "../src/publish/prepare_batch.ts";
import { useNodeSha256 } from "../src/runtime/sha256_node.ts";
import { type Bench, compare, type Contender, timed } from "./support/measure.ts";
import { sizedBatches } from "./support/rows.ts";
import { STREAM, SUBJECT } from "./support/stage.ts";

const ROWS = 8192;

/** Runs the suite, with the hash of the runtime's entry point. */
export async function prepare(bench: Bench): Promise<void> {
  if (!("Deno" in globalThis)) useNodeSha256();
  for (const bytes of [64, 256, 1024]) {
    const [plain] = sizedBatches(ROWS, bytes, false);
    const [withIds] = sizedBatches(ROWS, bytes, true);
    await compare(bench, { suite: "prepare", case: `${bytes} B`, unit: "rows" }, [
      { name: "bodies alone", run: () => timed(ROWS, () => encodeRows(plain!)) },
      prepared("messages", plain!),
      prepared("messages with ids", withIds!),
    ]);
  }
}

function prepared(name: string, rows: RecordBatch): Contender {
  const settings = resolveOptions({ stream: STREAM, subject: SUBJECT });
  const target = new MessageTarget({
    resource: "rows",
    stream: STREAM,
    subject: SUBJECT,
    maxMessageBytes: 1 << 20,
    limitedBy: "the bench",
    maxInFlightBytes: settings.maxInFlightBytes,
    replyBytes: 46,
    scope: { ...settings.namespace, stream: STREAM, subject: SUBJECT, resource: "rows" },
    expectedStream: true,
    headers: [],
  });
  const all = { from: 0, count: ROWS };
  return {
    name,
    run: () => timed(ROWS, () => prepareRows(openBatch({ resource: "rows", rows }, settings), all, target, false)),
  };
}
