import assert from "node:assert/strict";
import { type Consumer, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers, type NatsConnection, nuid } from "@nats-io/nats-core";
import { connect as dialReader } from "@nats-io/transport-node";
import { connect, isJetrowError, type Options, Publisher, type WriteReceipt } from "../../src/runtime/deno.ts";
import { batchOf, intColumn } from "../_support/arrow/mod.ts";
import { managerOf, natsServerVersion, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";

/** What is published, and how batches end. */
const BATCHES = 1000;
const KILLS = [250, 500, 750];
const server = await natsServerVersion();
const skipOld = olderThan("2.12.1", server, "readers of atomic batches");
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: skipOld, fn });

const OPTIONS: Options = { stream: "LEDGER", subject: "ledger", publishMode: "atomic", publishTimeout: "1m" };

/** A row names its batch: `{"batch":7,"row":0}`. */
interface Row {
  readonly batch: number;
  readonly row: number;
}

const sizeOf = (batch: number): number => 1 + (batch * 7) % 12;
const isAbandoned = (batch: number): boolean => batch % 4 === 3;

/** A batch that is not committed: without a commit, with a gap before it, or with an invalid commit value. */
function abandon(nc: NatsConnection, batch: number): void {
  const id = nuid.next();
  const count = sizeOf(batch) + 2;
  for (let i = 1; i <= count; i++) {
    const block = headers();
    block.set("Nats-Batch-Id", id);
    const last = i === count;
    block.set("Nats-Batch-Sequence", String(last && batch % 3 === 1 ? i + 1 : i));
    if (last && batch % 3 === 1) block.set("Nats-Batch-Commit", "1");
    if (last && batch % 3 === 2) block.set("Nats-Batch-Commit", "maybe");
    nc.publish("ledger", JSON.stringify({ batch, row: i }), { headers: block });
  }
}

/**
 * Reads by a consumer, and by sequence from the leader, until it is stopped; continues after the server's restarts.
 */
class Readers {
  readonly seen: Row[] = [];
  #stopped = false;

  async consume(nc: NatsConnection): Promise<void> {
    let consumer: Consumer | undefined;
    while (!this.#stopped) {
      try {
        consumer ??= await jetstream(nc).consumers.get("LEDGER", "reader");
        const messages = await consumer.fetch({ max_messages: 500, expires: 1000 });
        for await (const message of messages) this.seen.push(message.json());
      } catch {
        await pause(20);
      }
    }
  }

  async poll(nc: NatsConnection): Promise<void> {
    const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 500 });
    for (let seq = 1; !this.#stopped;) {
      try {
        const message = await manager.streams.getMessage("LEDGER", { seq });
        if (message === null) await pause(1);
        else {
          this.seen.push(message.json());
          seq++;
        }
      } catch {
        await pause(5);
      }
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

test("no row of an abandoned batch is ever read, and every committed batch is complete after kills", async () => {
  await using server = await startNatsServer();
  const dial = () => connect({ url: server.url });
  {
    await using nc = await dial();
    const manager = await managerOf(nc);
    await manager.streams.add({ name: "LEDGER", subjects: ["ledger"], allow_atomic: true });
    await manager.consumers.add("LEDGER", { durable_name: "reader", ack_policy: "none" });
  }
  const eyes = await dialReader({ servers: server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  await using _closing = { [Symbol.asyncDispose]: () => eyes.close() };
  const readers = new Readers();
  const reading = [readers.consume(eyes), readers.poll(eyes)];

  const committed = new Map<number, WriteReceipt>();
  const uncertain = new Set<number>();
  let publisher: Publisher | undefined;
  let raw: NatsConnection | undefined;
  for (let batch = 0; batch < BATCHES; batch++) {
    publisher ??= await Publisher.open(dial, OPTIONS);
    raw ??= await dial();
    if (isAbandoned(batch)) {
      abandon(raw, batch);
      continue;
    }
    const numbers = Array.from({ length: sizeOf(batch) }, (_, row) => row);
    const rows = batchOf([intColumn("batch", numbers.map(() => batch)), intColumn("row", numbers)]);
    const publishing = publisher.publish({ resource: "all", rows });
    publishing.catch(() => {});
    const kill = KILLS.includes(batch);
    if (kill) {
      // Some turns later, so that some kills meet the commit, some occur before it and some after.
      for (let turns = batch / 250; turns > 0; turns--) await new Promise((resolve) => setTimeout(resolve));
      await server.kill();
    }
    try {
      committed.set(batch, await publishing);
    } catch (error) {
      assert.ok(kill && isJetrowError(error) && error.name === "PublishError", String(error));
      if (error.outcome === "uncertain") uncertain.add(batch);
    }
    if (!kill) continue;
    await server.restart();
    await publisher.close();
    await raw.close();
    publisher = raw = undefined;
  }
  await publisher?.close();
  await raw?.close();
  await server.kill();
  await server.restart();

  await using nc = await dial();
  const stored = await storedIn(nc, "LEDGER");
  await until("both readers to have seen all", () => readers.seen.length >= 2 * stored.length);
  readers.stop();
  await Promise.all(reading);

  const byBatch = Map.groupBy(
    stored.map(({ seq, body }) => ({ seq, ...JSON.parse(body) as Row })),
    ({ batch }) => batch,
  );
  for (let batch = 0; batch < BATCHES; batch++) {
    const rows = byBatch.get(batch) ?? [];
    const receipt = committed.get(batch);
    if (receipt !== undefined) {
      const [[first, last]] = receipt.sequences as [[number, number]];
      assert.deepEqual([rows[0]?.seq, rows.at(-1)?.seq, rows.length], [first, last, sizeOf(batch)], `batch ${batch}`);
    } else {
      const whole = uncertain.has(batch) && rows.length === sizeOf(batch);
      assert.ok(rows.length === 0 || whole, `batch ${batch}: ${rows.length} of ${sizeOf(batch)} rows`);
    }
  }
  assert.deepEqual(readers.seen.filter(({ batch }) => isAbandoned(batch)), [], "rows of abandoned batches");
  assert.ok(committed.size >= BATCHES * 3 / 4 - KILLS.length);
});
