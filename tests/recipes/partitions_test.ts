import assert from "node:assert/strict";
import { Int32, Utf8 } from "apache-arrow";
import type { NatsConnection } from "@nats-io/nats-core";
import {
  connect,
  inspect,
  type Options,
  Publisher,
  type PublishMode,
  rowsOf,
  verifyReceipt,
} from "../../src/runtime/deno.ts";
import { createStream, natsServerVersion, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

const version = await natsServerVersion();

testRecipe("Partitions", ["CLICKS"], {
  "clicks.arrow": {
    objects: ["ada", "bo", "cy", "dee", "ada"].map((user, n) => ({ user, n })),
    types: { user: new Utf8(), n: new Int32() },
  },
}, olderThan("2.10.0", version, "subject_transform of a stream"));

const OPTIONS: Options = { stream: "CLICKS", subject: "clicks.{row.user}", createStream: false };
const DESTINATION = "clicks.{{partition(4,1)}}.{{wildcard(1)}}";
const BATCHES = { allow_atomic: true, allow_batched: true };
const MODES: readonly (readonly [mode: PublishMode, since: string])[] = [
  ["individual", "2.10.0"],
  ["atomic", "2.12.1"],
  ["fast", "2.14.0"],
];

/** Publishes rows of ten users, and checks that each user's rows are whole, in order, in one partition. */
async function publishAndCheck(nc: NatsConnection, publishMode: PublishMode): Promise<void> {
  await using publisher = await Publisher.open(nc, { ...OPTIONS, publishMode });
  const objects = Array.from({ length: 200 }, (_, n) => ({ user: `u${n % 10}`, n }));
  const receipt = await publisher.publish({ resource: "clicks", rows: rowsOf(objects, { user: "utf8", n: "int32" }) });
  assert.equal(receipt.rows, 200);
  const bySubject = Map.groupBy(await storedIn(nc, "CLICKS"), ({ subject }) => subject);
  assert.equal(bySubject.size, 10);
  assert.ok(new Set([...bySubject.keys()].map((subject) => subject.split(".")[1])).size > 1);
  for (const [subject, messages] of bySubject) {
    const user = /^clicks\.[0-3]\.(u\d)$/.exec(subject)?.[1];
    const expected = objects.filter((object) => object.user === user).map((object) => JSON.stringify(object));
    assert.deepEqual(messages.map(({ body }) => body), expected);
  }
  if (publishMode === "fast") return;
  const { ok, missing } = await verifyReceipt(nc, receipt);
  assert.deepEqual([ok, missing], [true, 0]);
}

for (const [mode, since] of MODES) {
  const ignore = olderThan(since, version, `${mode} publishing to partitions`);
  Deno.test({
    name: `a stream's subject_transform partitions rows, and inspect warns (${mode})`,
    ignore,
    fn: async () => {
      await using server = await startNatsServer();
      await using nc = await connect({ url: server.url });
      const subject_transform = { src: "clicks.*", dest: DESTINATION };
      await createStream(nc, { name: "CLICKS", subjects: ["clicks.*"], subject_transform, ...BATCHES });
      await publishAndCheck(nc, mode);
      assert.ok((await inspect(nc, OPTIONS)).some(({ code }) => code === "stream.transform"));
    },
  });

  Deno.test({
    name: `an account's mapping partitions rows if the stream captures both subjects (${mode})`,
    ignore,
    fn: async () => {
      await using server = await startNatsServer({ config: `mappings = { "clicks.*": "${DESTINATION}" }` });
      await using nc = await connect({ url: server.url });
      await createStream(nc, { name: "CLICKS", subjects: ["clicks.*", "clicks.*.*"], ...BATCHES });
      await publishAndCheck(nc, mode);
    },
  });
}

Deno.test("a stream that captures only the mapped subject is refused", async () => {
  await using server = await startNatsServer({ config: `mappings = { "clicks.*": "${DESTINATION}" }` });
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "CLICKS", subjects: ["clicks.*.*"] });
  await assert.rejects(Publisher.open(nc, OPTIONS), { code: "route.not_captured" });
});
