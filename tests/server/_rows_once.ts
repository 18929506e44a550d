import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";

/** How many of the rows 0 to `rows` - 1 are stored exactly once. */
export async function rowsOnce(nc: NatsConnection, rows: number): Promise<number> {
  const consumer = await jetstream(nc).consumers.get("ORDERS");
  const messages = await consumer.consume({ max_messages: 5000 });
  const seen = new Uint8Array(rows);
  for await (const message of messages) {
    seen[message.json<{ n: number }>().n]!++;
    if (message.info.pending === 0) break;
  }
  return seen.filter((times) => times === 1).length;
}
