/** The content of a journal, and what prevents resuming from it. */

import { tableFromArrays, tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { readJournal } from "../../src/cli/journal/read.ts";
import { JournalWriter } from "../../src/cli/journal/writer.ts";
import { api, createStream, natsServerVersion, olderThan } from "../_support/nats/mod.ts";
import { bodiesOf, messagesOf, plainColumns, receiptsOf } from "./_files.ts";
import { jetrow } from "./_io.ts";
import { finished, idColumns, Scene, tornAt } from "./_journal.ts";

Deno.test("a journal has a run line, then for each piece a begin line before its receipt", async () => {
  await using scene = await finished();
  const lines = scene.lines();
  assert.deepEqual(lines.slice(0, 3).map(({ kind }) => kind), ["run", "input", "stream"]);
  const { inputs, options } = lines[0]!;
  const { size } = statSync(scene.input);
  assert.deepEqual(inputs, [
    { file: scene.input, size, resource: "orders", stream: "ORDERS", subject: "orders.orders" },
  ]);
  assert.deepEqual([options["event-id-column"], options["batch-rows"]], ["_filament_event_id", 100]);
  assert.deepEqual(lines[1]!.schema.length, 3);
  for (let piece = 0; piece < 5; piece++) {
    const place = (line: { offset: number; batch: number; input: number }) =>
      line.input === 0 && line.batch === 0 && line.offset === piece * 100;
    const begun = lines.findIndex((line) => line.kind === "begin" && place(line as never));
    const ended = lines.findIndex((line) => line.kind === "receipt" && place(line as never));
    assert.ok(begun > 0 && ended > begun, `piece ${piece}`);
    assert.deepEqual([lines[begun]!.file, lines[begun]!.rows], [scene.input, 100]);
    assert.ok(Date.parse(lines[begun]!.time) <= Date.parse(lines[ended]!.time));
    assert.equal(lines[begun]!.crc32c, lines[ended]!.crc32c);
  }
});

Deno.test("a journal truncated at any line can be resumed, and each row is stored once", async () => {
  await using scene = await finished();
  const text = scene.text();
  const cuts = [
    10,
    text.indexOf("\n") + 20,
    ...Array.from({ length: 7 }, (_, i) => Math.floor((text.length * (i + 1)) / 7) - 1),
  ];
  for (const cut of cuts) {
    scene.write(text.slice(0, cut));
    const { exitCode, err } = await scene.resume();
    // Rows after the truncation were sent although the journal does not have them: their ids make them duplicates.
    assert.equal(exitCode, 0, err);
    await scene.assertWhole();
    const again = await scene.resume();
    assert.deepEqual([again.exitCode, again.out], [0, ""], again.err);
  }
});

Deno.test("two processes cannot resume from one journal at the same time", async () => {
  await using scene = await finished();
  const { state, end } = await readJournal(scene.journal);
  assert.equal(state.pieces.length, 5);
  const [one, other] = [await JournalWriter.open(scene.journal, end), await JournalWriter.open(scene.journal, end)];
  const line = { kind: "resume", time: new Date().toISOString(), jetrow: "0.1.0" } as const;
  await one.append(line);
  await assert.rejects(other.append(line), /orders\.journal is written to by another process/);
  await assert.rejects(other.append(line), /another process/, "and remains so");
  await one.append(line);
  await Promise.all([one.close(), other.close()]);
});

Deno.test("a journal that was edited anywhere is refused", async () => {
  await using scene = await finished();
  const text = scene.text();
  const lines = text.trimEnd().split("\n");
  const edits: [string, string][] = [
    ["a receipt's rows", text.replace(/("kind":"receipt".*?"rows":)100/, "$199")],
    ["a receipt's sequences", text.replace(/"sequences":\[\[1,100\]\]/, '"sequences":[[2,101]]')],
    ["a time", text.replace(/("kind":"begin","time":"20)2/, "$13")],
    ["the run", text.replace('"batch-rows":100', '"batch-rows":200')],
    ["a checksum", text.replace(/"check":(\d)/, (_, digit) => `"check":${Number(digit) % 9 + 1}`)],
    ["a line left out", lines.filter((_, i) => i !== 4).join("\n") + "\n"],
    ["two lines swapped", [...lines.slice(0, 3), lines[4], lines[3], ...lines.slice(5)].join("\n") + "\n"],
    ["a line without a checksum", text + '{"kind":"resume","time":"2026-01-01T00:00:00.000Z"}\n'],
    ["a line twice", text + lines.at(-1) + "\n"],
  ];
  for (const [what, edited] of edits) {
    assert.notEqual(edited, text, what);
    scene.write(edited);
    await scene.assertRefused(/orders\.journal, line \d+: the journal was edited after it was written/);
  }
  scene.write(lines.with(4, lines[4]!.slice(0, 30)).join("\n") + "\n");
  await scene.assertRefused(/line 5: damaged, and more follows/);
  scene.write("id,name\n1,a\n");
  await scene.assertRefused(/is not a journal of jetrow publish --receipt/);
});

Deno.test("resuming with another input than the journal's is refused", async () => {
  // The first dictionary of a process has the number 0, which is omitted, so that the same rows would take fewer bytes.
  tableFromArrays({ first: ["dictionary"] });
  await using scene = await finished();
  const good = readFileSync(scene.input);
  const rows = (change: (columns: ReturnType<typeof idColumns>) => void, count = 500) => {
    const columns = idColumns(count);
    change(columns);
    scene.files.write("orders.arrow", tableToIPC(tableFromArrays(columns), "file"));
  };
  rows(() => {}, 499);
  await scene.assertRefused(/is of an input that was \d+ bytes: .*orders\.arrow is \d+ bytes/);
  rows((columns) => (columns.id as Int32Array)[250] = 999);
  assert.equal(statSync(scene.input).size, good.length, "the same size");
  await scene.assertRefused(/orders\.arrow is not what was published: batch 0 has other values from row 200 on/);
  rows((columns) => {
    columns.nome = columns.name!;
    delete columns.name;
  });
  assert.equal(statSync(scene.input).size, good.length, "the same size");
  await scene.assertRefused(/has other columns than what was published: nome: .*Utf8.* instead of name: /);
  scene.files.write("orders.arrow", good);
  assert.equal((await scene.resume()).exitCode, 0);
});

Deno.test("resuming with other options than the journal's is a usage error", async () => {
  await using scene = await finished();
  scene.files.write("more.arrow", readFileSync(scene.input));
  for (
    const [more, words] of [
      [["--batch-bytes", "1000"], /--batch-bytes must be as in .*, 16777216: received 1000/],
      [["--event-id-column", "name"], /--event-id-column must be as in .*, "_filament_event_id": received "name"/],
      [["--tenant", "other"], /--tenant must be/],
      [["--pipeline", "other"], /--pipeline must be/],
      [["--sink-connection", "other"], /--sink-connection must be/],
      [["--resource", "other"], /the resource of .*orders\.arrow must be as in .*, "orders": received "other"/],
      [["--operation", "update"], /--operation must be/],
      [["--publish-mode", "fast"], /--publish-mode must be/],
      [["--json-int64", "string"], /--json-int64 must be as in .*, "number": received "string"/],
      [["--json-nulls", "omit"], /--json-nulls must be as in .*, "keep": received "omit"/],
      [[scene.files.path("more.arrow")], /orders\.journal is of 1 input: received 2/],
    ] as const
  ) {
    await scene.assertRefused(words, more, 2);
  }
  const swap = (name: string, value: string, words: RegExp) => {
    const args = scene.args("--resume");
    args[args.indexOf(name) + 1] = value;
    return jetrow(args).then(({ exitCode, err }) => {
      assert.equal(exitCode, 2, err);
      assert.match(err, words);
    });
  };
  await swap("--batch-rows", "50", /--batch-rows must be as in .*, 100: received 50/);
  await swap("--stream", "OTHER", /the stream of .* must be as in .*, "ORDERS": received "OTHER"/);
  await swap("--subject", "orders.x.{resource}", /the subject of .* must be as in/);
});

Deno.test("a run in other forms of values is continued in the same ones only", async () => {
  await using scene = await Scene.open({ rows: 300 });
  const config = (name: string, json: unknown) => {
    scene.files.write(name, new TextEncoder().encode(JSON.stringify({ json })));
    return ["--config", scene.files.path(name)];
  };
  const forms = config("a.json", { binary: "hex", columns: { name: { nulls: "omit" }, id: { int64: "string" } } });
  assert.equal((await scene.publish(...forms)).exitCode, 0);
  const other = config("b.json", { binary: "hex", columns: { name: { nulls: "omit" }, id: { int64: "safe" } } });
  await scene.assertRefused(/json\.columns must be as in .*int64.*string.*: received .*int64.*safe/, other, 2);
  await scene.assertRefused(/--json-binary must be as in .*, "hex": received "base64"/, [], 2);
  // In another order, and with a default set explicitly.
  const same = config("c.json", {
    columns: { id: { int64: "string" }, _filament_event_id: {}, name: { nulls: "omit", decimal: "number" } },
  });
  assert.equal((await scene.resume([...same, "--json-binary", "hex"])).exitCode, 0);
});

Deno.test("resuming to a stream that was recreated is refused", async () => {
  await using scene = await finished();
  await scene.ask(async (nc) => {
    await api(nc, "STREAM.DELETE.ORDERS");
    await createStream(nc, { name: "ORDERS", subjects: ["orders.>"] });
  });
  await scene.assertRefused(/ORDERS is not the stream that was published to/);
  await scene.ask((nc) => api(nc, "STREAM.DELETE.ORDERS"));
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 1);
  assert.match(err, /stream not found/);
});

Deno.test("several inputs and standard input are resumed where they stopped", async () => {
  await using scene = await Scene.open({ rows: 300 });
  scene.files.write("eu.arrow", tableToIPC(tableFromArrays(idColumns(250)), "file"));
  const args = (option: string) => {
    const [, input, ...rest] = scene.args("--receipt").slice(0, -2);
    return ["publish", input!, scene.files.path("eu.arrow"), "-", "--resource", "all", ...rest, option, scene.journal];
  };
  const bytes = tableToIPC(tableFromArrays(idColumns(220)), "stream");
  const stdin = (end = bytes.length) => ({
    stdin: (async function* () {
      for (let at = 0; at < end; at += 1000) yield bytes.subarray(at, Math.min(end, at + 1000));
    })(),
  });
  const cut = await jetrow(args("--receipt"), stdin(bytes.length - 8));
  assert.equal(cut.exitCode, 1, cut.err);
  assert.match(cut.err, /standard input cannot be read: it ends at byte/);
  const { exitCode, out, err } = await jetrow(args("--resume"), stdin());
  assert.equal(exitCode, 0, err);
  const all = [...receiptsOf(cut.out), ...out === "" ? [] : receiptsOf(out)];
  assert.deepEqual(all.map(({ rows }) => rows), [100, 100, 100, 100, 100, 50, 100, 100, 20]);
  const again = await jetrow(args("--resume"), stdin());
  assert.deepEqual([again.exitCode, again.out], [0, ""], again.err);
});

Deno.test("atomic and fast batches are journaled and can be resumed", async () => {
  const modes = [
    ["atomic", "2.12.1", { allow_atomic: true }, [50, 450]],
    ["fast", "2.14.0", { allow_batched: true }, [100, 400]],
  ] as const;
  const server = await natsServerVersion();
  for (const [mode, minimum, flag, last] of modes) {
    if (olderThan(minimum, server, `a journal of ${mode} batches`)) continue;
    await using scene = await Scene.open({ rows: 500, stream: flag });
    const more = ["--publish-mode", mode];
    const said = await scene.publish(...more);
    assert.equal(said.exitCode, 0, said.err);
    const text = scene.text();
    scene.write(tornAt(text, "receipt", 0.5));
    const { exitCode, out, err } = await scene.resume(more);
    assert.equal(exitCode, 0, err);
    assert.deepEqual(receiptsOf(out).map(({ rows, offset }) => [rows, offset]), [last]);
    assert.equal(await scene.stored(), 500);
    assert.equal((await scene.resume(more)).exitCode, 0);
  }
});

Deno.test("--journal begins a new journal or resumes an existing one; a dry run writes none", async () => {
  await using scene = await finished({ ids: false });
  const text = scene.text();
  const twice = await scene.publish();
  assert.deepEqual([twice.exitCode, twice.out], [2, ""]);
  assert.match(twice.err, /orders\.journal already exists: use --resume to continue it/);
  for (
    const [args, words] of [
      [[...scene.args("--receipt"), "--resume", "x"], /give one of them/],
      [[...scene.args("--receipt"), "--dry-run"], /--dry-run sends nothing: --receipt does not go with it/],
      [[...scene.args("--receipt"), "--retry", "5"], /--retry must be/],
    ] as const
  ) {
    const { exitCode, err } = await jetrow(args);
    assert.equal(exitCode, 2, err);
    assert.match(err, words);
  }
  assert.equal(scene.text(), text);
  const missing = await jetrow([...scene.args("--resume").slice(0, -1), scene.files.path("none")]);
  assert.deepEqual([missing.exitCode, missing.out], [1, ""]);
  assert.match(missing.err, /none cannot be read: no such file/);
  const folder = await jetrow([...scene.args("--receipt").slice(0, -1), scene.files.folder]);
  assert.equal(folder.exitCode, 1);
  assert.match(folder.err, /cannot be written: it is a directory/);
  const nowhere = await jetrow([...scene.args("--receipt").slice(0, -1), scene.files.path("none/orders.journal")]);
  assert.equal(nowhere.exitCode, 1);
  assert.match(nowhere.err, /none\/orders\.journal cannot be written: no such folder\n/);
  assert.deepEqual(await messagesOf(scene.server, "ORDERS"), bodiesOf(tableFromArrays(plainColumns(500))));
});
