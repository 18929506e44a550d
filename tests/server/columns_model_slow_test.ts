/** Rows with their own subjects, headers and ids over connections that are cut, compared with a plain model. */

import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import fc from "fast-check";
import {
  type ArrowRows,
  captureFilter,
  connect,
  isJetrowError,
  type JetrowError,
  type Options,
  publishAll,
  type PublishMode,
  verifyReceipt,
  type WriteReceipt,
} from "../../src/runtime/deno.ts";
import { fixedMakers } from "../_support/arrow/makers.ts";
import {
  api,
  createStream,
  infoOf,
  natsServerVersion,
  olderThan,
  startNatsServer,
  startTcpProxy,
  type TcpProxy,
  type Way,
} from "../_support/nats/mod.ts";
import { anyOptions, anyTable } from "../message/_any_columns.ts";
import { type ColumnOptions, type ModelMessage, modelOf, tableOf } from "../message/_columns_model.ts";

const version = await natsServerVersion();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const int32 = fixedMakers.find(({ name }) => name === "int32")!;

/** A proxy that cuts its connections after so many bytes of a direction, in the middle of what it received last. */
class CuttingProxy {
  readonly proxy: TcpProxy;
  #cuts: { readonly way: Way; readonly bytes: number }[] = [];
  #passed = 0;

  private constructor(proxy: TcpProxy) {
    this.proxy = proxy;
  }

  static async start(url: string): Promise<CuttingProxy> {
    let self: CuttingProxy | undefined;
    const proxy = await startTcpProxy(url, { tap: (way) => (bytes) => self?.pass(way, bytes) ?? bytes });
    return self = new CuttingProxy(proxy);
  }

  /** Sets the cuts to come, one after another. */
  plan(cuts: readonly { readonly way: Way; readonly bytes: number }[]): void {
    this.#cuts = [...cuts];
    this.#passed = 0;
  }

  pass(way: Way, bytes: Uint8Array): Uint8Array {
    const [next] = this.#cuts;
    if (next?.way !== way) return bytes;
    this.#passed += bytes.length;
    if (this.#passed <= next.bytes) return bytes;
    this.#cuts.shift();
    this.#passed = 0;
    queueMicrotask(() => this.proxy.cut());
    return bytes.subarray(0, bytes.length >> 1);
  }
}

/** A table with a column that is different in each row, options with ids that include it, and cuts. */
const anyCase = fc.integer({ min: 1, max: 110 }).chain((rows) => anyTable(rows, true)).chain((made) => {
  const table = {
    names: [...made.names, "key"],
    makers: [...made.makers, int32],
    rows: made.rows.map((row, key) => [...row, BigInt(key)]),
  };
  return fc.record({
    table: fc.constant(table),
    options: anyOptions(table, true),
    eventIdColumn: fc.constantFrom<string | string[]>("key", ["key", "a"], ["b.c", "key", "op"]),
    only: fc.option(fc.subarray(table.rows.map((_, row) => row)), { nil: undefined }),
    ends: fc.array(fc.nat(110), { maxLength: 3 }),
    batchMaxRows: fc.integer({ min: 1, max: 80 }),
    maxInFlight: fc.integer({ min: 1, max: 64 }),
    maxInFlightBytes: fc.constantFrom(16_777_216, 4000, 9000),
    retry: fc.boolean(),
    cuts: fc.array(
      fc.oneof(
        fc.record({ way: fc.constant("up" as const), bytes: fc.nat(8000) }),
        fc.record({ way: fc.constant("down" as const), bytes: fc.nat(4000) }),
      ),
      { maxLength: 3 },
    ),
  });
});

/** What the stream has, apart from the headers that jetrow adds for the delivery. */
async function storedMessages(nc: NatsConnection, stream: string): Promise<ModelMessage[]> {
  const { first_seq, last_seq, messages } = (await infoOf(nc, stream)).state;
  const sequences = messages === 0 ? [] : Array.from({ length: last_seq - first_seq + 1 }, (_, i) => first_seq + i);
  return await Promise.all(sequences.map(async (seq) => {
    const { message } = await api(nc, `STREAM.MSG.GET.${stream}`, { seq }) as { message: Record<string, string> };
    const bytesOf = (field: string) => Uint8Array.from(atob(message[field] ?? ""), (char) => char.charCodeAt(0));
    const [, ...lines] = decoder.decode(bytesOf("hdrs")).trimEnd().split("\r\n");
    const headers = lines.filter((line) => !/^Nats-(Batch-|Expected-Stream)/.test(line));
    return { subject: message["subject"]!, headers, body: bytesOf("data") };
  }));
}

const inOrder = (messages: readonly ModelMessage[]): string[] =>
  messages.map(({ subject, headers, body }) => JSON.stringify([subject, headers, [...body]])).sort();

for (
  const [publishMode, since] of [["individual", "2.9.0"], ["atomic", "2.12.1"], ["fast", "2.14.0"]] as const
) {
  Deno.test({
    name: `each row is stored once, on its subject, with its headers and body, over cut connections (${publishMode})`,
    ignore: olderThan(since, version, publishMode),
    fn: async () => {
      await using server = await startNatsServer();
      await using nc = await connect({ url: server.url });
      const cutting = await CuttingProxy.start(server.url);
      await using _proxy = cutting.proxy;
      let count = 0;
      let loads = 0;
      await fc.assert(
        fc.asyncProperty(anyCase, async ({ table, options, eventIdColumn, only, ends, cuts, retry, ...how }) => {
          const stream = `S${++count}`;
          const subject = options.subject.replace("orders.", `orders${count}.`);
          const columns: ColumnOptions = { ...options, subject, eventIdColumn };
          const all = modelOf(table, columns, { stream, resource: "eu" });
          const rows = only === undefined ? all : only.map((row) => all[row]!);
          const expected = rows.flatMap((row) => "message" in row ? [row.message] : []);
          if (expected.length < rows.length) return; // a value that is refused, see tests/message/columns_model_test.ts
          await createStreamFor(nc, stream, `orders${count}.>`, publishMode);
          const { batchMaxRows, ...window } = how;
          const given: Options = {
            stream,
            ...columns,
            publishMode,
            ...window,
            ...(retry && { retry: { budget: "5s" } }),
          };
          const receipts: WriteReceipt[] = [];
          cutting.plan(cuts);
          loads++;
          const batch = { resource: "eu", rows: tableOf(table, ends) as unknown as ArrowRows, ...(only && { only }) };
          const publish = publishAll(() => connect({ url: cutting.proxy.url }), given, [batch], {
            budget: "30s",
            batchMaxRows,
            onReceipt: (receipt) => void receipts.push(receipt),
          });
          const result = await publish.catch((error: JetrowError) => error);
          cutting.plan([]);
          // A window of few bytes is too small for some rows.
          if (isJetrowError(result, "encode.too_large")) return;
          assert.equal(result.constructor, Object, String(result));
          assert.deepEqual(inOrder(await storedMessages(nc, stream)), inOrder(expected));
          for (const receipt of receipts) {
            assert.equal(receipt.subject, captureFilter({ stream: "{resource}", subject }, "eu"));
            if (receipt.sequences !== undefined) assert.equal((await verifyReceipt(nc, receipt)).ok, true);
          }
        }),
        { numRuns: 60, endOnFailure: true },
      );
      const { accepted } = cutting.proxy;
      assert.ok(accepted > loads + 5, `${accepted} connections for ${loads} loads`);
    },
  });
}

async function createStreamFor(nc: NatsConnection, name: string, subject: string, mode: PublishMode): Promise<void> {
  const flags = { allow_atomic: mode === "atomic", allow_batched: mode === "fast" };
  await createStream(nc, { name, subjects: [subject], ...flags });
}
