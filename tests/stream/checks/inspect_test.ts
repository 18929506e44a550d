import assert from "node:assert/strict";
import { inspect } from "../../../mod.ts";
import { fakeConnection, streamInfo } from "../../_support/fake/mod.ts";

Deno.test("inspect() stops listing consumers when the server keeps announcing more of them", async () => {
  let pages = 0;
  const page = Array.from({ length: 256 }, () => ({ name: "c", config: {} }));
  const fake = fakeConnection({
    requests: ({ subject }) => {
      if (subject.includes("STREAM.INFO")) return streamInfo("ORDERS");
      if (!subject.includes("CONSUMER.LIST")) return new Error("not asked here");
      pages++;
      return {
        type: "io.nats.jetstream.api.v1.consumer_list_response",
        total: Number.MAX_SAFE_INTEGER,
        consumers: page,
      };
    },
  });
  const findings = await inspect(fake.nc, { stream: "ORDERS", subject: "orders.{resource}" });
  assert.equal(pages, 257);
  const hidden = findings.find(({ code }) => code === "consumer.hidden");
  assert.match(hidden!.message, /there are more than 65536/);
});
