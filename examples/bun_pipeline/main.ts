/**
 * A Bun service that takes orders as JSON over HTTP and publishes them in epochs, over one connection.
 *
 * A request is answered when its orders are on the disk. An epoch holds the orders that arrived while the previous one
 * was published; its file is removed when the epoch is committed. After a crash, of this process or of the server, the
 * remaining epochs are published again with the same ids, and the stream drops duplicates. For that its duplicate
 * window must be longer than any outage: `nats stream add ORDERS --subjects 'orders.>' --dupe-window 24h`.
 *
 *     curl localhost:3000/orders --json \
 *       '[{ "id": "o-1", "customer": "Ann", "quantity": 2, "price": "9.90", "placed_at": "2026-01-31T08:00Z" }]'
 */

import { connect, isJetrowError, openSession, type SinkConfig } from "@jetrow/jetrow/bun";
import { Journal } from "./journal.ts";
import { orderTable, parseOrders } from "./orders.ts";

const config = {
  url: Bun.env.NATS_URL ?? "nats://localhost:4222",
  stream: "ORDERS",
  subject: "orders.{resource}",
  eventIdColumn: "id",
} satisfies SinkConfig;

const STATUS: Readonly<Record<string, number>> = { SyntaxError: 400, RangeError: 400, Conflict: 409 };

const journal = new Journal(Bun.env.JOURNAL ?? "journal");

const server = Bun.serve({
  port: Bun.env.PORT ?? 3000,
  routes: {
    "/orders": {
      async POST(request) {
        const orders = parseOrders(await request.json());
        journal.append(orders);
        return Response.json({ accepted: orders.length }, { status: 202 });
      },
    },
    "/status": () => Response.json({ epochsWaiting: journal.waiting }),
  },
  error: (error) => Response.json({ error: error.message }, { status: STATUS[error.name] ?? 500 }),
});
console.log(`listening on ${server.url}`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await server.stop(); // waits for requests in progress
    journal.close();
  });
}

const FIRST_WAIT = 100;
let wait = FIRST_WAIT;

/** Publishes epoch after epoch until the journal is closed and empty. One session: a failure ends it. */
async function publishEpochs(): Promise<void> {
  const attempt = Bun.randomUUIDv7();
  await using session = await openSession(() => connect(config), config, attempt);
  for (let epoch; (epoch = await journal.oldest()) !== undefined; wait = FIRST_WAIT) {
    const ref = { attempt, epoch };
    await session.beginEpoch(ref);
    try {
      await session.applyAll([{ resource: "placed", rows: orderTable(journal.read(epoch)) }], ref);
    } catch (error) {
      // Data that no attempt can publish must not delay the rest.
      if (isJetrowError(error) && error.name === "EncodeError") console.error(`see ${journal.setAside(epoch)}`);
      throw error;
    }
    await session.commitEpoch(ref);
    journal.commit(epoch);
  }
}

// While the server is away, orders are accepted and kept.
while (true) {
  try {
    await publishEpochs();
    break;
  } catch (error) {
    if (!isJetrowError(error) || error.name === "ConfigError") throw error;
    if (journal.closed) break; // what is left is published at the next start
    console.error(`${error.code}: ${error.message}; again in ${wait} ms`);
    await Bun.sleep(wait);
    wait = Math.min(2 * wait, 5000);
  }
}
