import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import fc from "fast-check";
import type { PreparedRows } from "../../../src/message/prepared_rows.ts";
import { openWire } from "../../../src/publish/connection/wire.ts";
import { FrameSplitter } from "../../_support/nats/mod.ts";

const text = new TextEncoder();
const headers = text.encode("NATS/1.0\r\nA: b\r\n\r\n");

/** The parts of prepared rows that a wire uses: bodies of these sizes, each filled with a different byte. */
function rowsOf(sizes: readonly number[]): PreparedRows {
  const offsets = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, i) => offsets[i + 1] = offsets[i]! + size);
  const bytes = new Uint8Array(offsets.at(-1)!);
  sizes.forEach((_, i) => bytes.fill(33 + i % 90, offsets[i], offsets[i + 1]));
  const writeHeaders = (_: number, to: Uint8Array, at: number): number => {
    to.set(headers, at);
    return at + headers.length;
  };
  return {
    subjectBytes: text.encode("s"),
    subjectOf: () => "s",
    subjectStart: () => 0,
    subjectEnd: () => 1,
    headerBytes: () => headers.length,
    bytes,
    offsets,
    writeHeaders,
  } as never;
}

/** A client whose server reads what was sent before a PING when the test lets it, and nothing earlier. */
class LateServer {
  readonly bodies: string[] = [];
  readonly nc: NatsConnection;
  readonly #splitter = new FrameSplitter();
  #sent: Uint8Array[] = [];
  #pings: { readonly before: number; readonly pong: () => void }[] = [];
  #count = 0;
  #read = 0;

  constructor(socket: object, more: object) {
    const protocol = {
      ...more,
      transport: { socket },
      sendCommand: (bytes: Uint8Array) => {
        this.#sent.push(bytes);
        this.#count++;
      },
    };
    const flush = () =>
      new Promise<void>((resolve) => this.#pings.push({ before: this.#count, pong: () => resolve() }));
    this.nc = { protocol, flush, isClosed: () => false, isDraining: () => false } as never;
  }

  /** Reads up to the next PING and answers it; without a PING, reads everything. */
  async read(): Promise<void> {
    const ping = this.#pings.shift();
    this.#take(ping?.before ?? this.#count);
    ping?.pong();
    for (let i = 0; i < 8; i++) await undefined;
  }

  get pings(): number {
    return this.#pings.length;
  }

  #take(until: number): void {
    for (const bytes of this.#sent.splice(0, until - this.#read)) {
      for (const { args, payload } of this.#splitter.push(bytes)) {
        const body = payload!.length === 0 ? "" : `${String.fromCharCode(payload![0]!)} x ${payload!.length}`;
        assert.ok(payload!.every((byte) => byte === payload![0]), "a body of one byte, again and again");
        this.bodies.push(`${args[1]} ${body}`);
      }
    }
    this.#read = until;
  }
}

const CLIENTS = {
  "a TCP socket, which takes views": [{ write() {} }, { flushPending() {} }],
  "a TCP socket of a client that writes at the end of the turn": [{ write() {} }, {}],
  "a WebSocket, which takes none": [{ send() {} }, { flushPending() {} }],
} as const;

for (const [name, [socket, more]] of Object.entries(CLIENTS)) {
  Deno.test(`openWire() over ${name} overwrites nothing that the server has not read, however late it reads`, async () => {
    const sizes = fc.array(fc.oneof(fc.nat(2000), { weight: 3, arbitrary: fc.nat(90_000) }, fc.constant(600_000)), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(fc.constantFrom("flush", "read", "turn"), { maxLength: 40 }),
        async (all, then) => {
          const server = new LateServer(socket, more);
          const wire = openWire(server.nc, "in.");
          const rows = rowsOf(all);
          for (let i = 0; i < all.length; i++) {
            wire.send(rows, i, i);
            const what = then[i];
            if (what === "flush") wire.flush();
            if (what === "turn") await undefined;
            if (what === "read" && server.pings > 0) await server.read();
          }
          wire.flush();
          for (let i = 0; i < 8; i++) await undefined;
          while (server.pings > 0) await server.read();
          await server.read();
          const expected = all.map((size, i) =>
            `in.${i} ${size === 0 ? "" : `${String.fromCharCode(33 + i % 90)} x ${size}`}`
          );
          assert.deepEqual(server.bodies, expected);
        },
      ),
      { numRuns: 60 },
    );
  });
}

Deno.test("openWire() has each burst written before the next one, if the client can", () => {
  const calls: string[] = [];
  const protocol = {
    transport: { socket: { write() {} } },
    sendCommand: (bytes: Uint8Array) => calls.push(`send ${bytes.length > 600_000}`),
    flushPending: () => calls.push("write"),
  };
  const nc = { protocol, flush: () => Promise.resolve(), isClosed: () => false, isDraining: () => false };
  const wire = openWire(nc as never, "in.");
  const rows = rowsOf([600_000, 600_000]);
  wire.send(rows, 0, 0);
  wire.send(rows, 1, 1);
  wire.flush();
  assert.deepEqual(calls, ["send true", "write", "send true", "write"]);
});

Deno.test("neither wire sends a row whose bytes were released", () => {
  const frames = new LateServer({ write() {} }, {}).nc;
  const publish = { publish: () => assert.fail("sent") } as unknown as NatsConnection;
  for (const [holdsRows, nc] of [[false, frames], [true, publish]] as const) {
    const wire = openWire(nc, "in.");
    assert.equal(wire.holdsRows, holdsRows);
    const rows = { ...rowsOf([5, 5]), bytes: new Uint8Array(0) } as PreparedRows;
    assert.throws(() => wire.send(rows, 1, 0), { name: "RangeError", message: /row 1: its bytes were released/ });
    wire.close();
  }
});
