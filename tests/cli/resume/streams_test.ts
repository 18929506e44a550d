import assert from "node:assert/strict";
import { removedBehind } from "../../../src/cli/resume/streams.ts";
import { resolveOptions } from "../../../src/options/publisher.ts";
import { fakeConnection, streamInfo } from "../../_support/fake/mod.ts";
import { BASE } from "../../faults/_scripted.ts";

const STATE = { messages: 0, bytes: 0, first_seq: 1, last_seq: 2_000_000, consumer_count: 0 };

/** What `removedBehind` counts after sequence 4 of a stream with these interior deletes, and the requests it sent. */
async function removed(count: number, deleted: readonly number[]): Promise<{ removed: number; asked: string[] }> {
  const asked: string[] = [];
  const { nc } = fakeConnection({
    requests: ({ body }) => {
      asked.push(body);
      const list = body === "" ? {} : { deleted };
      return streamInfo("ORDERS", {}, { state: { ...STATE, num_deleted: count, ...list } });
    },
  });
  const signal = new AbortController().signal;
  return { removed: await removedBehind(nc, "ORDERS", 4, resolveOptions(BASE), signal), asked };
}

Deno.test("removedBehind() requests the list of interior deletes only if there are any", async () => {
  assert.deepEqual(await removed(0, []), { removed: 0, asked: [""] });
  assert.deepEqual(await removed(3, [3, 4, 5]), { removed: 1, asked: ["", '{"deleted_details":true}'] });
});

Deno.test("removedBehind() counts all interior deletes even if a list of them would take megabytes", async () => {
  assert.deepEqual(await removed(100_001, []), { removed: 100_001, asked: [""] });
});
