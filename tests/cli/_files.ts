/** Input files for the command, and the rows that it published. */

import { jetstream } from "@nats-io/jetstream";
import { type Table, tableFromArrays, tableToIPC } from "apache-arrow";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeRows } from "../../src/json/encode.ts";
import { connect } from "../../src/runtime/deno.ts";
import type { WriteReceipt } from "../../src/types/mod.ts";
import { managerOf, type NatsServer } from "../_support/nats/mod.ts";

/** A folder with `orders.arrow` and `orders.arrows`, and the table that they hold. */
export class Files implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "jetrow-publish-"));
  readonly table: Table;

  constructor(rows: number, columns: (rows: number) => Record<string, string[] | Int32Array> = plainColumns) {
    this.table = tableFromArrays(columns(rows)) as Table;
    this.write("orders.arrow", tableToIPC(this.table, "file"));
    this.write("orders.arrows", tableToIPC(this.table, "stream"));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, bytes: Uint8Array): void {
    writeFileSync(this.path(name), bytes);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

export function plainColumns(rows: number): Record<string, string[] | Int32Array> {
  return {
    id: Int32Array.from({ length: rows }, (_, i) => i),
    name: Array.from({ length: rows }, (_, i) => `order ${i}`),
  };
}

export const destination = (server: NatsServer, stream = "ORDERS", subject = "orders.{resource}"): string[] => [
  "--url",
  server.url,
  "--stream",
  stream,
  "--subject",
  subject,
];

export const receiptsOf = (out: string): WriteReceipt[] => out.trimEnd().split("\n").map((line) => JSON.parse(line));

/** The bodies of the stream's messages in order, as strings. */
export async function messagesOf(server: NatsServer, stream: string): Promise<string[]> {
  const nc = await connect({ url: server.url });
  try {
    const manager = await managerOf(nc);
    const { state: { messages } } = await manager.streams.info(stream);
    const consumer = await jetstream(nc).consumers.get(stream, {});
    const bodies: string[] = [];
    if (messages === 0) return bodies;
    for await (const message of await consumer.fetch({ max_messages: messages })) bodies.push(message.string());
    return bodies;
  } finally {
    await nc.close();
  }
}

export function bodiesOf(table: Table): string[] {
  const { bytes, offsets } = encodeRows(table);
  const text = (i: number) => new TextDecoder().decode(bytes.subarray(offsets[i], offsets[i + 1]));
  return Array.from({ length: offsets.length - 1 }, (_, i) => text(i));
}
