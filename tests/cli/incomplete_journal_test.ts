/** Journals whose last line is incomplete after a crash. */

import assert from "node:assert/strict";
import { FIRST_CHECK, formatLine, type JournalLine } from "../../src/cli/journal/line.ts";
import { readJournal } from "../../src/cli/journal/read.ts";
import { api } from "../_support/nats/mod.ts";
import { receiptsOf } from "./_files.ts";
import { finished, type Line, Scene, tornAt } from "./_journal.ts";

Deno.test("rows of an incomplete receipt are unknown: resent with ids, refused without", async () => {
  for (const ids of [true, false]) {
    await using scene = await finished({ ids });
    const text = scene.text();
    for (const part of [0.1, 0.5, 0.99]) {
      scene.write(tornAt(text, "receipt", part));
      if (!ids) {
        await scene.assertRefused(/100 rows of .*\(batch 0, rows 400 to 499\).*row 400 has no id/);
        continue;
      }
      const { exitCode, out, err } = await scene.resume();
      assert.equal(exitCode, 0, err);
      assert.deepEqual(receiptsOf(out).map(({ rows, duplicates, offset }) => [rows, duplicates, offset]), [[
        100,
        100,
        400,
      ]]);
      await scene.assertWhole();
    }
  }
});

/** Lines of a journal, with checksums as if it had been written that way. */
function rechained(lines: readonly Line[]): { text: string; check: number } {
  let [text, check] = ["", FIRST_CHECK];
  for (const { check: _, ...line } of lines) {
    const formatted = formatLine(line as JournalLine, check);
    text += `${formatted.text}\n`;
    check = formatted.check;
  }
  return { text, check };
}

Deno.test("an incomplete begin or resume line counts as not written: its rows were not sent", async () => {
  const torn = (begin: string, resume: string): readonly string[] => [
    begin.slice(0, 1),
    begin.slice(0, -1),
    `${begin.slice(0, 40)}\n${resume}\n`,
    resume.slice(0, 20),
  ];
  for (let variant = 0; variant < 4; variant++) {
    await using scene = await Scene.open({ ids: false, rows: 500, stream: { max_msgs: 100, discard: "new" } });
    assert.equal((await scene.publish()).exitCode, 1);
    const lines = scene.lines();
    const of = (kind: string) => lines.find((line) => line.kind === kind && line.offset === 0)!;
    const { text, check } = rechained([...lines.slice(0, 3), of("begin"), of("receipt")]);
    const begin = formatLine({ ...of("begin"), offset: 100 } as JournalLine, check).text;
    const resume = formatLine({ kind: "resume", time: new Date().toISOString(), jetrow: "0.1.0" }, check).text;
    scene.write(text + torn(begin, resume)[variant]!);
    const config = { name: "ORDERS", subjects: ["orders.>"], max_msgs: -1, discard: "new" };
    await scene.ask((nc) => api(nc, "STREAM.UPDATE.ORDERS", config));
    const { exitCode, err } = await scene.resume();
    assert.equal(exitCode, 0, err);
    await scene.assertWhole();
  }
});

Deno.test("a complete last line with any flipped bit is refused, since its rows may have been sent", async () => {
  await using scene = await finished({ ids: false });
  const lines = scene.lines();
  for (const kind of ["begin", "receipt"]) {
    const { text } = rechained(lines.slice(0, lines.findLastIndex((line) => line.kind === kind) + 1));
    const start = text.lastIndexOf("\n", text.length - 2) + 1;
    scene.write(text);
    await readJournal(scene.journal);
    for (let at = start; at < text.length; at++) {
      for (let bit = 0; bit < 7; bit++) {
        const wrong = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
        scene.write(text.slice(0, at) + wrong + text.slice(at + 1));
        await assert.rejects(
          readJournal(scene.journal),
          { name: "JournalError" },
          `bit ${bit} of character ${at - start} of the ${kind} line`,
        );
      }
    }
  }
  scene.write(`${rechained(lines).text.trimEnd()}\0`);
  await scene.assertRefused(/line \d+: damaged/);
});

Deno.test("a line that was not written to the disk is incomplete, whatever bytes are there", async () => {
  await using scene = await finished();
  const text = scene.text();
  const torn = tornAt(text, "receipt", 0.5);
  scene.write(torn + "\0".repeat(200));
  const { exitCode, err } = await scene.resume();
  assert.equal(exitCode, 0, err);
  await scene.assertWhole();
});
