import type { NatsConnection } from "@nats-io/nats-core";
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { connect, encodeRows } from "../../src/runtime/deno.ts";
import { orderTable } from "../../examples/bun_pipeline/orders.ts";
import { infoOf, startNatsServer, startTcpProxy, type Stored, storedIn } from "../_support/nats/mod.ts";
import { bunProgram } from "../_support/runtimes.ts";
import { until } from "../_support/wait.ts";
import { type Program, start } from "./_program.ts";

const MAIN = fileURLToPath(new URL("../../examples/bun_pipeline/main.ts", import.meta.url));
const bun = await bunProgram();

interface Service extends Program {
  readonly url: string;
}

async function startService(natsUrl: string, journal: string): Promise<Service> {
  const program = start([bun!, MAIN], { env: { NATS_URL: natsUrl, JOURNAL: journal, PORT: "0" } });
  const [url] = await program.line(/http\S+/);
  return { ...program, url };
}

function order(number: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  const placed_at = new Date(1_760_000_000_000 + number).toISOString();
  return { id: `o-${number}`, customer: `Zoë ${number % 7}`, quantity: number % 9, price: "12.50", placed_at, ...more };
}

function orders(first: number, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => order(first + index));
}

async function post({ url }: Service, body: unknown): Promise<{ status: number; error?: string; accepted?: number }> {
  const answer = await fetch(new URL("orders", url), { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, ...await answer.json() };
}

function settled({ url }: Service): Promise<true> {
  return until("all epochs to be committed", async () => {
    const { epochsWaiting } = await (await fetch(new URL("status", url))).json();
    return epochsWaiting === 0 && true;
  });
}

const count = async (nc: NatsConnection): Promise<number> => (await infoOf(nc, "ORDERS")).state.messages;

const idOf = ({ body }: Stored): string => JSON.parse(body).id;

Deno.test({ name: "a Bun pipeline that is killed in the middle of an epoch", ignore: bun === undefined }, async (t) => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  await using nc = await connect({ url: server.url });
  const journal = `${server.folder}/journal`;

  await t.step("has stored some of the epoch's orders, and answered for all", async () => {
    await using service = await startService(proxy.url, journal);
    assert.deepEqual(await post(service, orders(0, 10)), { status: 202, accepted: 10 });
    await settled(service);
    proxy.drop("down"); // rows arrive, their acknowledgments do not
    assert.equal((await post(service, orders(10, 3000))).status, 202);
    await until("what is in flight to be stored", async () => await count(nc) === 10 + 1024);
    assert.equal(await service.end("SIGKILL"), "SIGKILL");
  });

  await t.step("keeps them in an append-only file, with the partial line of an unanswered request", () => {
    const [file, ...others] = readdirSync(journal);
    assert.deepEqual(others, []);
    assert.equal(readFileSync(`${journal}/${file}`, "utf8").split("\n").length, 3001);
    appendFileSync(`${journal}/${file}`, JSON.stringify(order(9999)).slice(0, -20));
  });

  await t.step("replays them with the same ids after a restart, so that every order is stored once", async () => {
    await using service = await startService(server.url, journal);
    await settled(service);
    assert.equal((await post(service, orders(3010, 5))).status, 202);
    await settled(service);
    const stored = await storedIn(nc, "ORDERS");
    assert.deepEqual(stored.map(idOf).sort(), orders(0, 3015).map(({ id }) => id).sort());
    const messageIds = stored.map(({ headers }) => headers.find(([name]) => name === "Nats-Msg-Id")?.[1]);
    assert.equal(new Set(messageIds).size, 3015);
    assert.equal(
      stored[7]!.body,
      '{"id":"o-7","customer":"Zoë 0","quantity":7,"price":12.50,"placed_at":"2025-10-09T08:53:20.007Z"}',
    );
    assert.equal(stored[7]!.subject, "orders.placed");
    assert.deepEqual(readdirSync(journal), []);
    assert.equal(await service.end("SIGTERM"), 0);
  });
});

Deno.test("an epoch whose only line is incomplete has a table without rows", () => {
  const table = orderTable([]);
  assert.equal(table.schema.fields.length, 5);
  assert.deepEqual([...encodeRows(table).offsets], [0]);
});

Deno.test({ name: "a Bun pipeline that is killed repeatedly", ignore: bun === undefined }, async (t) => {
  await using server = await startNatsServer();
  const journal = `${server.folder}/journal`;
  const requests = Array.from({ length: 60 }, (_, index) => orders(index * 50, 50));
  let service = await startService(server.url, journal);
  let next = 0;

  await t.step("accepts unanswered requests again", async () => {
    const client = (async () => {
      while (next < requests.length) {
        // As a client does: unanswered requests are sent again.
        await until(`an answer to request ${next}`, async () => (await post(service, requests[next])).status === 202);
        next++;
      }
    })();
    for (const at of [15, 30, 45]) {
      await until(`request ${at}`, () => next >= at, { every: 1 });
      await service.end("SIGKILL");
      service = await startService(server.url, journal);
    }
    await client;
  });

  await t.step("accepts orders while the server is away", async () => {
    await server.kill();
    assert.equal((await post(service, orders(3000, 100))).status, 202);
    await service.line(/^(?:connection|publish)\.\w+: .*again in \d+ ms/);
    await server.restart();
  });

  await t.step("has every order stored once in the end", async () => {
    await settled(service);
    assert.equal(await service.end("SIGTERM"), 0);
    await using nc = await connect({ url: server.url });
    const ids = (await storedIn(nc, "ORDERS")).map(idOf);
    assert.equal(ids.length, 3100);
    assert.equal(new Set(ids).size, 3100);
  });
  await service[Symbol.asyncDispose]();
});

Deno.test({ name: "a Bun pipeline refuses orders that it could not publish", ignore: bun === undefined }, async () => {
  await using server = await startNatsServer();
  const journal = `${server.folder}/journal`;
  await using service = await startService("nats://127.0.0.1:1", journal); // no server: everything stays in the journal
  for (
    const [body, status, error] of [
      [{}, 400, "the body must be an array of orders"],
      [[order(1), null], 400, "order 1: id must be a non-empty string"],
      [[order(1, { quantity: 2 ** 31 })], 400, "order 0: quantity must be a whole number of 32 bits"],
      [[order(1, { price: 1.5 })], 400, "order 0: price must be a decimal number in a string"],
      [[order(1, { placed_at: "soon" })], 400, "order 0: placed_at must be a date and time"],
      [[order(1), order(1, { quantity: 5 })], 409, "there is another order with the id o-1"],
    ] as const
  ) {
    assert.deepEqual(await post(service, body), { status, error });
  }
  assert.deepEqual(readdirSync(journal), []);
  assert.equal((await post(service, [order(1)])).status, 202);
  await service.line(/^connection\.refused: /);
  assert.equal(await service.end("SIGTERM"), 0); // what is left is published at the next start
  assert.deepEqual(readdirSync(journal), ["1.ndjson"]);
});

Deno.test(
  { name: "a Bun pipeline sets aside orders that cannot be published", ignore: bun === undefined },
  async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    const journal = `${server.folder}/journal`;
    await using service = await startService(server.url, journal);
    assert.equal((await post(service, [order(1, { customer: "x".repeat(2 ** 20) })])).status, 202);
    const [, path] = await service.line(/^see (.*)$/);
    await service.line(/^encode\.too_large: .*again in \d+ ms/);
    assert.equal((await post(service, [order(2)])).status, 202);
    await settled(service);
    assert.deepEqual((await storedIn(nc, "ORDERS")).map(idOf), ["o-2"]);
    assert.deepEqual(readdirSync(journal).map((name) => `${journal}/${name}`), [path]);
  },
);
