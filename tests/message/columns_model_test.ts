import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { isJetrowError } from "../../src/errors/mod.ts";
import { prepareRows } from "../../src/message/prepare.ts";
import type { PreparedRows } from "../../src/message/prepared_rows.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { batchHeaderBytes } from "../../src/message/batch_headers.ts";
import { readFlechette } from "../_support/arrow/mod.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { anyOptions, anyTable } from "./_any_columns.ts";
import { type ColumnOptions, type ModelMessage, modelOf, tableOf } from "./_columns_model.ts";
import { targetOf } from "./_target.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Prepares the selected rows piece by piece, with the numbers of rows in `counts`. */
function prepareAll(
  rows: ArrowRows,
  options: ColumnOptions,
  only: readonly number[] | undefined,
  pieces: readonly number[],
  asBatch: boolean,
): PreparedRows[] {
  const settings = resolveOptions({ stream: "S", ...options, maxInFlightBytes: asBatch ? 4000 : 16_777_216 });
  const target = targetOf(settings, { expectedStream: false, ...(asBatch ? { batchHeaderBytes } : {}) });
  const source = openBatch({ resource: "eu", rows, ...(only && { only }) }, settings);
  const all: PreparedRows[] = [];
  for (let from = 0, at = 0; from < source.selected; at++) {
    const count = Math.min(pieces[at % pieces.length]!, source.selected - from);
    const prepared = prepareRows(source, { from, count }, target, true);
    assert.equal(prepared.from, from);
    all.push(prepared);
    from += prepared.count;
  }
  return all;
}

function messagesOf(rows: PreparedRows): ModelMessage[] {
  return Array.from({ length: rows.count }, (_, index) => {
    const headers = new Uint8Array(rows.headerBytes(index));
    assert.equal(rows.writeHeaders(index, headers, 0), headers.length);
    const [version, ...lines] = decoder.decode(headers).split("\r\n");
    assert.deepEqual([version, lines.pop(), lines.pop()], ["NATS/1.0", "", ""]);
    const body = rows.bytes.slice(rows.offsets[index], rows.offsets[index + 1]);
    const subject = rows.subjectOf(index);
    const more = rows.target.fields.batchHeaderBytes?.(index, index === rows.count - 1) ?? 0;
    assert.equal(rows.sizeOf(index), headers.length + more + body.length + new TextEncoder().encode(subject).length);
    return { subject, headers: lines, body };
  });
}

/** Whether a message has the id of an earlier, different one: computed for a whole batch, also of refused rows. */
function repeatsId(messages: readonly ModelMessage[], asBatch: boolean): boolean {
  return messages.some((message, at) => {
    const id = message.headers.find((line) => line.startsWith("Nats-Msg-Id"));
    const earlier = messages.slice(0, at).find(({ headers }) => id !== undefined && headers.includes(id));
    return earlier !== undefined && (asBatch || !isDeepStrictEqual(earlier, message));
  });
}

const anyCase = fc.boolean().chain((clean) =>
  fc.nat(12).chain((rows) => anyTable(rows, clean)).chain((table) =>
    fc.record({
      table: fc.constant(table),
      options: anyOptions(table, clean),
      ends: fc.array(fc.nat(12), { maxLength: 3 }),
      only: fc.option(fc.subarray(table.rows.map((_, row) => row)), { nil: undefined }),
      pieces: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
      asBatch: fc.boolean(),
      library: fc.constantFrom("apache-arrow", "flechette"),
    })
  )
);

Deno.test("prepareRows() makes the messages of a simple expansion, in any chunks, pieces and selection", () => {
  let made = 0;
  fc.assert(
    fc.property(anyCase, ({ table, options, ends, only, pieces, asBatch, library }) => {
      // flechette keeps the last replacement of a dictionary for the whole table.
      const isOneBatch = library === "flechette" && table.makers.some(({ name }) => name.startsWith("dictionary"));
      const whole = tableOf(table, isOneBatch ? [] : ends);
      const rows = library === "flechette"
        ? readFlechette(arrow.tableToIPC(whole, "stream") as Uint8Array<ArrayBuffer>)
        : whole;
      if (rows === undefined) return;
      const all = modelOf(table, options, { stream: "S", resource: "eu" });
      const selected = only === undefined ? all : only.map((row) => all[row]!);
      const codes = new Set(selected.flatMap((row) => "codes" in row ? row.codes : []));
      const expected = selected.flatMap((row) => "message" in row ? [row.message] : []);
      if (repeatsId(expected, asBatch)) codes.add("encode.duplicate_id");
      let messages: ModelMessage[];
      try {
        messages = prepareAll(rows as unknown as ArrowRows, options, only, pieces, asBatch).flatMap(messagesOf);
      } catch (error) {
        if (!isJetrowError(error)) throw error;
        if (error.code === "encode.too_large" && asBatch) return;
        // Column types are also checked without any row.
        if (selected.length === 0 && ["encode.type", "encode.id"].includes(error.code)) return;
        assert.ok(codes.has(error.code), `${error.code} is not among ${[...codes]}: ${error.message}`);
        return;
      }
      assert.deepEqual([...codes], []);
      assert.deepEqual(messages, expected);
      made += messages.length;
    }),
    { numRuns: 1500 },
  );
  assert.ok(made > 1000, `${made} messages`);
});
