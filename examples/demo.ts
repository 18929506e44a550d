// deno-lint-ignore-file no-console
/**
 * The whole path once: an Arrow file in, acknowledged JetStream messages out, read back and compared.
 *
 * `deno task demo` gets a nats-server if none is installed, and leaves no files behind. `deno task demo 1000` publishes
 * fewer rows.
 *
 * @module
 */

import { jetstream, type JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { RecordBatchReader, type Table, tableToIPC } from "apache-arrow";
import { demoTable } from "../tests/_support/arrow/mod.ts";
import { startNatsServer } from "../tests/_support/nats/mod.ts";
import {
  batchesOf,
  connect,
  crc32c,
  openRun,
  type Progress,
  type RunReceipt,
  type SinkConfig,
  type WriteReceipt,
} from "../src/runtime/deno.ts";

const rows = Number(Deno.args[0] ?? 200_000);

async function demo(): Promise<void> {
  step("starting a nats-server");
  await using server = await startNatsServer();
  tell(`nats-server ${server.version}, ${server.url}, store ${server.storeDir}`);

  step("making an Arrow file");
  const path = `${server.folder}/orders.arrow`; // removed with the server's folder
  const table = demoTable(rows);
  await Deno.writeFile(path, tableToIPC(table, "file"));
  tell(await fileFacts(path, table));

  step("publishing it");
  const config = {
    url: server.url,
    stream: "DEMO",
    subject: "demo.{resource}",
    onProgress: progressLine(),
  } satisfies SinkConfig;
  const { total, receipts } = await publish(path, config);

  step("reading the stream back");
  const back = await reading(config, receipts);
  tell(`${count(back.rows)} messages in ${seconds(back.took)}`);
  compare(back, total);

  step("the receipt of the run, and of its first piece");
  console.log(JSON.stringify(total));
  console.log(JSON.stringify(receipts[0]));
  step("three of the messages");
  for (const sample of back.samples) console.log(`${sample}\n`);

  step("cleaning up");
}

async function publish(path: string, config: SinkConfig): Promise<{ total: RunReceipt; receipts: WriteReceipt[] }> {
  const receipts: WriteReceipt[] = [];
  const start = performance.now();
  await using run = await openRun(() => connect(config), config);
  const batches = batchesOf("orders", RecordBatchReader.from(await Deno.readFile(path)));
  await run.applyAll(batches, { onReceipt: (receipt) => void receipts.push(receipt) });
  const total = await run.commit();
  endLine();
  const took = performance.now() - start;
  const speed = `${count(rows / took * 1000)} rows/s, ${(total.bytes / took / 1000).toFixed(1)} MB/s of JSON`;
  tell(`${count(total.rows)} rows acknowledged in ${seconds(took)}: ${speed}; ${receipts.length} receipts`);
  return { total, receipts };
}

async function reading(config: SinkConfig, receipts: readonly WriteReceipt[]): Promise<Back> {
  await using nc = await connect(config);
  return await readBack(nc, receipts);
}

interface Back {
  readonly rows: number;
  readonly bytes: number;
  readonly took: number;
  readonly samples: readonly string[];
  /** The difference from the rows or receipts, if any. */
  readonly wrong: readonly string[];
}

/** Reads every message in stream order, and checks that each is the next row and each receipt's CRC32C is right. */
async function readBack(nc: NatsConnection, receipts: readonly WriteReceipt[]): Promise<Back> {
  const start = performance.now();
  const consumer = await jetstream(nc).consumers.get("DEMO"); // ordered: it has no name
  const samples: string[] = [];
  const wrong: string[] = [];
  const pieces = new PieceCheck(receipts, wrong);
  let read = 0;
  let bytes = 0;
  for await (const message of await consumer.consume({ max_messages: 10_000 })) {
    const body = message.string();
    if (!body.startsWith(`{"_filament_event_id":"evt-${String(read).padStart(9, "0")}"`)) {
      wrong.push(`message ${message.seq} is not row ${read}`);
    }
    pieces.add(message.data);
    bytes += message.data.length;
    if ([0, Math.floor(rows / 2), rows - 1].includes(read++)) samples.push(show(message));
    if (message.info.pending === 0 || wrong.length > 10) break;
  }
  return { rows: read, bytes, took: performance.now() - start, samples, wrong: [...wrong, ...pieces.left()] };
}

/** Compares the rows read back with the CRC32C of their piece. */
class PieceCheck {
  readonly #receipts: Iterator<WriteReceipt>;
  readonly #wrong: string[];
  #receipt: WriteReceipt | undefined;
  #rows = 0;
  #crc = 0;

  constructor(receipts: readonly WriteReceipt[], wrong: string[]) {
    this.#receipts = receipts.values();
    this.#wrong = wrong;
    this.#next();
  }

  add(body: Uint8Array): void {
    this.#crc = crc32c(body, this.#crc);
    if (this.#receipt === undefined || ++this.#rows < this.#receipt.rows) return;
    if (this.#crc !== this.#receipt.crc32c) {
      this.#wrong.push(`${this.#rows} rows have the CRC32C ${this.#crc}, their receipt says ${this.#receipt.crc32c}`);
    }
    this.#next();
  }

  left(): string[] {
    return this.#receipt === undefined ? [] : [`${this.#receipt.rows - this.#rows} rows of a piece are missing`];
  }

  #next(): void {
    this.#receipt = this.#receipts.next().value;
    this.#rows = 0;
    this.#crc = 0;
  }
}

function compare(back: Back, total: RunReceipt): void {
  const wrong = [...back.wrong];
  if (back.rows !== rows || total.rows !== rows) {
    wrong.push(`${rows} rows, ${total.rows} acknowledged, ${back.rows} read`);
  }
  if (back.bytes !== total.bytes) wrong.push(`${total.bytes} bytes acknowledged, ${back.bytes} read`);
  if (wrong.length > 0) throw new Error(`the stream does not hold what was published:\n${wrong.join("\n")}`);
  tell("count, order and CRC32C are those of the rows");
}

function show(message: JsMsg): string {
  const headers = [...message.headers ?? []].map(([name, values]) => `${name}: ${values.join(", ")}`);
  return [`#${message.seq} ${message.subject}`, ...headers, message.string()].join("\n  ");
}

async function fileFacts(path: string, table: Table): Promise<string> {
  const bytes = await Deno.readFile(path);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const types = new Set(table.schema.fields.map(({ type }) => String(type)));
  const columns = `${table.schema.fields.length} columns of ${types.size} types`;
  return `${count(table.numRows)} rows, ${columns}, ${(bytes.length / 1e6).toFixed(1)} MB, SHA-256 ${
    hash.slice(0, 16)
  }`;
}

/** On a terminal one line that is overwritten, elsewhere one line per second. */
function progressLine(): (progress: Progress) => void {
  const terminal = Deno.stderr.isTerminal();
  const start = performance.now();
  let last = start;
  return ({ acked, bytes, inFlight }) => {
    const now = performance.now();
    if (!terminal && now - last < 1000) return;
    last = now;
    const rate = (amount: number) => amount / (now - start);
    const line = `   ${count(acked)} of ${count(rows)} rows, ${count(rate(acked) * 1000)} rows/s, ` +
      `${(rate(bytes) / 1000).toFixed(1)} MB/s, ${inFlight} in flight`;
    write(terminal ? `\r${line.padEnd(79)}` : `${line}\n`);
  };
}

function endLine(): void {
  if (Deno.stderr.isTerminal()) write(`\r${" ".repeat(79)}\r`);
}

function write(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

function step(what: string): void {
  console.log(`\u2022 ${what}`);
}

function tell(fact: string): void {
  console.log(`   ${fact}`);
}

function count(amount: number): string {
  return Math.round(amount).toLocaleString("en");
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

await demo();
