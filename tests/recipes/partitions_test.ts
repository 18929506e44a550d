import assert from "node:assert/strict";
import { Int32, Utf8 } from "apache-arrow";
import type { NatsConnection } from "@nats-io/nats-core";
import { connect, inspect, Publisher, rowsOf, verifyReceipt } from "../../src/runtime/deno.ts";
import { addStream, natsServerVersion, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

const skipOld = olderThan("2.10.0", await natsServerVersion(), "subject_transform of a stream");

testRecipe("Partitions", ["CLICKS"], {
  "clicks.arrow": {
    objects: ["ada", "bo", "cy", "dee", "ada"].map((user, n) => ({ user, n })),
    types: { user: new Utf8(), n: new Int32() },
  },
}, skipOld);

const OPTIONS = { stream: "CLICKS", subject: "clicks.{row.user}" };
const DESTINATION = "clicks.{{partition(4,1)}}.{{wildcard(1)}}";

/** Publishes rows of ten users, and checks that each user's rows are whole, in order, in one partition. */
async function publishAndCheck(nc: NatsConnection): Promise<void> {
  await using publisher = await Publisher.open(nc, OPTIONS);
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
  const { ok, missing } = await verifyReceipt(nc, receipt);
  assert.deepEqual([ok, missing], [true, 0]);
}

const transformed = "a stream's subject_transform partitions rows; verifyReceipt finds them, and inspect warns";
Deno.test({ name: transformed, ignore: skipOld }, async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const subject_transform = { src: "clicks.*", dest: DESTINATION };
  await addStream(nc, { name: "CLICKS", subjects: ["clicks.*"], subject_transform });
  await publishAndCheck(nc);
  assert.ok((await inspect(nc, OPTIONS)).some(({ code }) => code === "stream.transform"));
});

Deno.test("an account's mapping partitions rows if the stream captures both subjects", async () => {
  await using server = await startNatsServer({ config: `mappings = { "clicks.*": "${DESTINATION}" }` });
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "CLICKS", subjects: ["clicks.*", "clicks.*.*"] });
  await publishAndCheck(nc);
});

Deno.test("a stream that captures only the mapped subject is refused", async () => {
  await using server = await startNatsServer({ config: `mappings = { "clicks.*": "${DESTINATION}" }` });
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "CLICKS", subjects: ["clicks.*.*"] });
  await assert.rejects(Publisher.open(nc, OPTIONS), { code: "route.not_captured" });
});
