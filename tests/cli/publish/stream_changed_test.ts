/** A stream that is deleted and recreated before the command ends: none of its lost rows is reported as acknowledged. */

import assert from "node:assert/strict";
import { main } from "../../../src/cli/main.ts";
import { connect } from "../../../src/runtime/deno.ts";
import { api, createStream, infoOf, startNatsServer } from "../../_support/nats/mod.ts";
import { destination, Files } from "../_files.ts";

const STREAM = { name: "ORDERS", subjects: ["orders.>"], allow_batched: true };

for (const more of [[], ["--publish-mode", "fast"], ["--retry", "30s"]]) {
  Deno.test(`publish ${more.join(" ")} exits with 1 and reports lost rows if the stream is recreated after the last row`, async () => {
    using files = new Files(10);
    await using server = await startNatsServer();
    const nc = await connect({ url: server.url });
    await createStream(nc, STREAM);
    const written: string[] = [];
    let receipts = 0;
    const stdout = {
      write: async () => {
        if (++receipts < 8) return;
        await api(nc, "STREAM.DELETE.ORDERS");
        await createStream(nc, STREAM);
      },
    };
    const stderr = { write: (text: string) => Promise.resolve(void written.push(text)) };
    const { signal } = new AbortController();
    const io = { stdin: (async function* () {})(), stdout, stderr, env: {}, signal };
    const inputs = Array<string>(8).fill(files.path("orders.arrow"));
    const exitCode = await main(["publish", ...inputs, ...destination(server), ...more], io);
    const { state } = await infoOf(nc, "ORDERS");
    await nc.close();
    const err = written.join("");
    assert.equal(exitCode, 1, err);
    assert.equal(state.messages, 0);
    assert.match(err, /^jetrow: publish\.stream_changed: Cannot confirm the rows of stream "ORDERS"/m);
    assert.match(err, /^jetrow: 0 rows acknowledged, 80 acknowledged before a stream was deleted/m);
    assert.match(err, /^jetrow: publish all rows again, without --resume/m);
  });
}
