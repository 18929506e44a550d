import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { connect } from "../../src/runtime/deno.ts";
import { apiRequest, isApiFailure, requestStreamInfo } from "../../src/stream/api/request.ts";
import { createStream, passwordUsers, startNatsServer } from "../_support/nats/mod.ts";

Deno.test("requestStreamInfo() returns the stream, or the failure for a missing one", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders.>"] });
  const info = await requestStreamInfo(nc, "ORDERS");
  assert.ok(!isApiFailure(info));
  assert.deepEqual([info.config.name, info.config.subjects], ["ORDERS", ["orders.>"]]);
  const none = await requestStreamInfo(nc, "NONE");
  assert.ok(isApiFailure(none));
  assert.deepEqual([none.error.code, none.error.err_code], [404, 10059]);
});

Deno.test("apiRequest() needs only permission for the API subject and its inbox prefix, not the shared inbox", async () => {
  const config = passwordUsers({
    username: "u",
    password: "p",
    permissions: { publish: ["$JS.API.STREAM.INFO.ORDERS"], subscribe: ["_MINE.u.*"] },
  });
  await using server = await startNatsServer({ config });
  const sink = { url: server.url, authMode: "user_password", username: "u", password: "p" } as const;
  await using nc = await connect({ ...sink, inboxPrefix: "_MINE.u" });
  assert.ok(isApiFailure(await requestStreamInfo(nc, "ORDERS")), "the connection's own prefix");
  await using other = await connect(sink);
  assert.ok(isApiFailure(await requestStreamInfo(other, "ORDERS", { inboxPrefix: "_MINE.u" })));
  const denied = { name: "ConnectionError", code: "connection.permission" };
  await assert.rejects(requestStreamInfo(other, "ORDERS"), { ...denied, message: /_INBOX/ });
  await assert.rejects(requestStreamInfo(nc, "OTHER"), { ...denied, message: /STREAM\.INFO\.OTHER/ });
});

Deno.test("apiRequest() throws on answers that are not JetStream's", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  // Another client answers.
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  const type = (name: string, rest: string) => `{"type":"io.nats.jetstream.api.v1.${name}"${rest}}`;
  const answers: Record<string, string | Uint8Array> = {
    "an acknowledgment": '{"stream":"LOG","seq":7}',
    "no JSON": "+OK",
    "not UTF-8": new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    "nothing": "",
    "an array": "[]",
    "null": "null",
    "deep nesting": deep,
    "deep nesting inside": type("stream_info_response", `,"config":${deep}`),
    "another type": type("account_info_response", ',"config":{},"state":{}'),
    "half of it": type("stream_info_response", ',"config":{}'),
    "an odd failure": type("stream_info_response", ',"error":{"code":"404"}'),
    "odd subjects": type("stream_info_response", ',"config":{"subjects":[1]},"state":{}'),
  };
  for (const [name, answer] of Object.entries(answers)) {
    const responder = respond(nc, "$JS.API.STREAM.INFO.ORDERS", answer);
    await assert.rejects(requestStreamInfo(nc, "ORDERS"), (error: Error & { code?: string }) => {
      assert.equal(error.code, "connection.no_answer", name);
      assert.ok(error.message.length < 250, `${name}: ${error.message.length}`);
      assert.match(error.message, /^[\x20-\x7e]*$/, name);
      return true;
    });
    responder.unsubscribe();
  }
});

Deno.test("apiRequest() accepts integers beyond 2^53", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  const config = '{"name":"ORDERS","subjects":["orders"],"max_bytes":9223372036854775807}';
  const state = '{"messages":18446744073709551615,"last_seq":18446744073709551615}';
  respond(
    nc,
    "$JS.API.STREAM.INFO.ORDERS",
    `{"type":"io.nats.jetstream.api.v1.stream_info_response","config":${config},"state":${state}}`,
  );
  const info = await requestStreamInfo(nc, "ORDERS");
  assert.ok(!isApiFailure(info) && info.config.max_bytes > 2 ** 62);
});

Deno.test("apiRequest() ends with the timeout, the signal or the connection, whichever is first", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  const ask = (options = {}) => apiRequest(nc, "INFO", "account_info_response", undefined, options);
  await assert.rejects(ask(), { code: "connection.no_jetstream" });
  const silent = nc.subscribe("$JS.API.INFO", { callback: () => {} });
  await assert.rejects(ask({ timeout: 50 }), { code: "connection.no_answer", message: /within 50 ms/ });
  const stop = new AbortController();
  const reason = new Error("enough");
  const stopped = ask({ signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(stopped, reason);
  await assert.rejects(ask({ signal: stop.signal }), reason);
  const waiting = [ask(), ask()];
  void nc.close();
  for (const request of waiting) await assert.rejects(request, { code: "connection.closed" });
  await assert.rejects(ask(), { code: "connection.closed" });
  silent.unsubscribe();
});

Deno.test("apiRequest() reports an unavailable JetStream as connection.no_jetstream", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  const error = '{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}';
  respond(
    nc,
    "$JS.API.STREAM.INFO.ORDERS",
    `{"type":"io.nats.jetstream.api.v1.stream_info_response","error":${error}}`,
  );
  await assert.rejects(requestStreamInfo(nc, "ORDERS"), { code: "connection.no_jetstream", message: /10008/ });
});

function respond(nc: NatsConnection, subject: string, answer: string | Uint8Array) {
  return nc.subscribe(subject, { callback: (_error, msg) => void msg.respond(answer) });
}
