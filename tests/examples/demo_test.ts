import assert from "node:assert/strict";
import { existsSync } from "node:fs";

Deno.test("the demo publishes an Arrow file, reads it back, prints what it did and leaves no files behind", async () => {
  const demo = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", new URL("../../examples/demo.ts", import.meta.url).pathname, "20000"],
  });
  const { code, stdout, stderr } = await demo.output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, `${text}\n${new TextDecoder().decode(stderr)}`);

  // The file has the same bytes every time.
  assert.match(text, /20,000 rows, 15 columns of 14 types, [\d.]+ MB, SHA-256 [0-9a-f]{16}\n/);
  assert.match(text, /20,000 rows acknowledged in /);
  assert.match(text, /count, order and CRC32C are those of the rows/);
  assert.match(text, /"rows":20000/);
  const samples = [...text.matchAll(/^#(\d+) demo\.orders\n(?: {2}[\w-]+: .*\n)+ {2}(\{.*\})$/gm)];
  assert.deepEqual(samples.map(([, seq]) => seq), ["1", "10001", "20000"]);
  for (const [, seq, body] of samples) {
    assert.equal(JSON.parse(body!)._filament_event_id, `evt-${String(Number(seq) - 1).padStart(9, "0")}`);
  }
  const store = /store (\S+)/.exec(text)?.[1];
  assert(store !== undefined && !existsSync(store));
});

Deno.test("the demo makes the same file every time", async () => {
  const { tableToIPC } = await import("apache-arrow");
  const { demoTable } = await import("../_support/arrow/batches.ts");
  const hash = async () =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(tableToIPC(demoTable(1000), "file")))).toHex();
  assert.equal(await hash(), "05a9a690e61f3ecf530ac5bcc473fdd1e0768b745525c2a6c3b6d6c0f2b75206");
});
