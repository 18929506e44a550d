import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { isJetrowError, type Options, Publisher, type RowBatch } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { batchOf, textColumn } from "../_support/arrow/mod.ts";
import { fakeConnection, type Published, streamInfo } from "../_support/fake/mod.ts";
import { editFrames, type Frame, startNatsServer, startTcpProxy } from "../_support/nats/mod.ts";

const MEBIBYTE = 2 ** 20;

/** Strings that would be another command, subject or header if they were written unchecked. */
const HOSTILE: readonly string[] = [
  "\r\nPUB $JS.API.STREAM.DELETE.ORDERS 0\r\n\r\n",
  "\nSUB > 1",
  "eu\r",
  "eu\n",
  "eu 5\r\nPUB x 1",
  "a\tb",
  "a\u0000b",
  "a\u2028b",
  "a\u0085b",
  "a\u00a0b",
  "*",
  ">",
  "a.*.b",
  "a.>",
  ".",
  "..",
  "a..b",
  ".a",
  "a.",
  "$JS.API.STREAM.DELETE.ORDERS",
  "$SYS.REQ.SERVER.PING",
  "_INBOX.x",
  "NATS/1.0 503\r\n\r\n",
  "x\r\nNats-Rollup: all",
  "x\nNats-Rollup: all",
  "{resource}",
  "{{resource}}",
  "$&",
  "\ud800",
  "\u202e",
  "ключ",
  "😀",
  "x".repeat(MEBIBYTE),
  "\r\n".repeat(MEBIBYTE / 2),
];

const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.array(fc.constantFrom("a", ".", "*", ">", "\r", "\n", " ", "$JS", "{resource}", "\u0000"), { maxLength: 6 }).map((
    parts,
  ) => parts.join("")),
);

const FIXED = ["Content-Type: application/json", "Filament-Operation: insert", "Nats-Expected-Stream: ORDERS"];

/** Publishes one row over both wires; returns what arrives, or undefined if it was refused. */
async function sent(options: Partial<Options>, batch: RowBatch): Promise<Published | undefined> {
  const seen: (Published | undefined)[] = [];
  for (const frames of [true, false]) {
    const fake = fakeConnection({
      frames,
      requests: ({ subject }) => {
        assert.equal(subject, "$JS.API.STREAM.INFO.ORDERS");
        return streamInfo("ORDERS", { subjects: ["orders.>", "ключ"], max_msg_size: -1 });
      },
      info: { max_payload: 8 * MEBIBYTE },
    });
    let publisher: Publisher | undefined;
    try {
      publisher = await Publisher.open(fake.nc, { stream: "ORDERS", subject: "orders.{resource}", ...options });
      const receipt = await publisher.publish(batch);
      assert.equal(receipt.rows, 1);
      assert.equal(fake.published.length, 1, "one row is one message");
    } catch (error) {
      assert.ok(
        isJetrowError(error) && ["ConfigError", "RouteError", "EncodeError"].includes(error.name),
        String(error),
      );
      assert.ok(error.message.length < 2000, "an error does not repeat a MiB");
      assert.ok(!error.message.includes("\n"), "an error is one line");
      assert.equal(fake.published.length, 0, "what is refused sends nothing");
    }
    await publisher?.close();
    seen.push(fake.published[0]);
  }
  const [framed, published] = seen;
  assert.deepEqual(framed && text(framed.headers), published && text(published.headers));
  assert.equal(framed?.subject, published?.subject);
  return framed;
}

/** Whether a token is not empty, not a wildcard, and has nothing that ends a token or a line. */
function isToken(token: string): boolean {
  return token !== "" && token !== "*" && token !== ">" && !/\s/.test(token) &&
    [...token].every((char) => char >= "\u0020" && char !== "\u007f");
}

const row = (text: string, column = "text"): RowBatch["rows"] => batchOf([textColumn(column, [text])]);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const linesOf = ({ headers }: Published): readonly string[] => text(headers).split("\r\n");

function assertHeaders(published: Published, more: readonly string[] = []): void {
  assert.deepEqual(linesOf(published), ["NATS/1.0", ...FIXED, ...more, "", ""]);
}

async function check(run: (text: string) => Promise<void>): Promise<void> {
  for (const text of HOSTILE) await run(text);
  await fc.assert(fc.asyncProperty(hostile.filter((text) => text.length < 1000), run), { numRuns: 200 });
}

Deno.test("any resource name becomes one token of the subject or is refused", async () => {
  await check(async (name) => {
    const published = await sent({}, { resource: name, rows: row("x") });
    if (published === undefined) return;
    assert.equal(published.subject, `orders.${name}`);
    assert.ok(published.subject.split(".").every(isToken), JSON.stringify(name.slice(0, 80)));
    assert.ok(published.subject.length < 4096);
    assertHeaders(published);
  });
});

Deno.test("any subject template is used unchanged or is refused", async () => {
  await check(async (subject) => {
    const published = await sent({ subject }, { resource: "eu", rows: row("x") });
    if (published !== undefined) assertHeaders(published);
  });
});

Deno.test("any column names and values become JSON", async () => {
  await check(async (name) => {
    const published = await sent({}, { resource: "eu", rows: row(name, name) });
    assert.ok(published !== undefined);
    const [[key, value]] = Object.entries(JSON.parse(text(published.data))) as [[string, string]];
    assert.deepEqual([key.toWellFormed(), value], [name.toWellFormed(), name.toWellFormed()]);
    assert.ok(published.data.every((byte) => byte >= 0x20));
    assertHeaders(published);
  });
});

Deno.test("any event id is hashed", async () => {
  await check(async (id) => {
    const published = await sent({}, { resource: "eu", rows: row(id, "_filament_event_id") });
    if (id === "") return assertHeaders(published!);
    const line = linesOf(published!).find((line) => line.startsWith("Nats-Msg-Id: "));
    assert.match(line!, /^Nats-Msg-Id: [0-9a-f]{64}$/);
    assertHeaders(published!, [line!]);
  });
});

Deno.test("any namespace is hashed", async () => {
  await check(async (tenant) => {
    const options = { namespace: { tenant, pipeline: tenant, sinkConnection: tenant } };
    const published = await sent(options, { resource: "eu", rows: row("1", "_filament_event_id") });
    if (published === undefined) return;
    assertHeaders(published, [linesOf(published)[4]!]);
    assert.match(linesOf(published)[4]!, /^Nats-Msg-Id: [0-9a-f]{64}$/);
  });
});

Deno.test("any static header becomes one line or is refused", async () => {
  await check(async (value) => {
    const published = await sent({ headers: { "X-Source": value } }, { resource: "eu", rows: row("x") });
    if (published !== undefined) {
      const [line] = linesOf(published).slice(4);
      assertHeaders(published, [line!]);
      assert.ok(line!.startsWith("X-Source:"));
    }
    const named = await sent({ headers: { [value]: "x" } }, { resource: "eu", rows: row("x") });
    if (named === undefined) return;
    const [line] = linesOf(named).slice(4);
    assertHeaders(named, [line!]);
    assert.ok(!/^(nats-|filament-|content-type)/i.test(line!));
  });
});

Deno.test("names of the server's own headers are refused in upper and lower case", async () => {
  const names = [
    "Nats-Rollup",
    "nats-rollup",
    "NATS-EXPECTED-LAST-SEQUENCE",
    "Nats-Msg-Id",
    "X-Nats-Msg-Id",
    "content-type",
    "Filament-Operation",
    "a b",
    "a:b",
    "",
  ];
  for (const name of names) {
    const published = await sent({ headers: { [name]: "all" } }, { resource: "eu", rows: row("x") });
    assert.equal(published, undefined, name);
  }
});

Deno.test("a real server receives only a publisher's own commands and subjects", async () => {
  await using server = await startNatsServer({ config: "max_payload: 8MB" });
  const frames: Frame[] = [];
  await using proxy = await startTcpProxy(
    server.url,
    editFrames((frame, way) => {
      if (way === "up") frames.push(frame);
      return frame.bytes;
    }),
  );
  const config = { url: proxy.url, stream: "ORDERS", subject: "orders.{resource}", maxInFlight: 10 };
  const publisher = await Publisher.open(() => connect(config), config);
  let acked = 0;
  for (const text of HOSTILE) {
    const rows = batchOf([textColumn(text, [text]), textColumn("_filament_event_id", [text])]);
    const [one, two] = await Promise.allSettled([
      publisher.publish({ resource: text, rows }),
      publisher.publish({ resource: "eu", rows }),
    ]);
    for (const result of [one, two]) if (result!.status === "fulfilled") acked++;
    assert.equal(two!.status, text === "_filament_event_id" ? "rejected" : two!.status);
  }
  await publisher.close();
  const allowed = /^(CONNECT|PING|PONG|SUB|UNSUB|PUB|HPUB)$/;
  for (const { op } of frames) assert.match(op, allowed);
  const subjects = frames.filter(({ op }) => op === "HPUB").map(({ args }) => args[0]!);
  assert.equal(subjects.length, acked);
  for (const subject of subjects) assert.ok(subject.startsWith("orders."), Buffer.from(subject).toString("base64"));
  const asked = frames.filter(({ op }) => op === "PUB").map(({ args }) => args[0]!);
  assert.deepEqual(new Set(asked), new Set(["$JS.API.STREAM.INFO.ORDERS", "$JS.API.STREAM.CREATE.ORDERS"]));
});
