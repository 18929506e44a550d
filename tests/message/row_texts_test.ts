import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { EncodeError } from "../../src/errors/mod.ts";
import { messageId } from "../../src/hash/message_id.ts";
import { PieceMemory } from "../../src/json/memory/spare.ts";
import { prepareRows } from "../../src/message/prepare.ts";
import type { PreparedRows } from "../../src/message/prepared_rows.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { assertSubject, expandTemplate } from "../../src/subject/mod.ts";
import { commandLineBytes } from "../../src/subject/name.ts";
import type { ArrowRows, PublisherOptions, RowBatch } from "../../src/types/mod.ts";
import { targetOf } from "./_target.ts";

type Values = Readonly<Record<string, arrow.Vector>>;

const strings = (values: readonly (string | null)[]): arrow.Vector => arrow.vectorFromArray(values, new arrow.Utf8());
const tableOf = (columns: Values): ArrowRows => new arrow.Table(columns) as unknown as ArrowRows;

const SCOPE = { tenant: "", pipeline: "", sinkConnection: "", stream: "S", resource: "eu" };

function prepared(
  rows: ArrowRows,
  options: Partial<PublisherOptions>,
  batch: Partial<RowBatch> = {},
  limits: { maxMessageBytes?: number; maxInFlightBytes?: number } = {},
  memory?: PieceMemory,
): PreparedRows {
  const settings = resolveOptions({ stream: "S", subject: "s", ...options });
  const target = targetOf(settings, limits);
  const source = openBatch({ resource: "eu", rows, ...batch }, settings);
  return prepareRows(source, { from: 0, count: source.selected }, target, false, memory);
}

const text = new TextDecoder();

const all = <T>(rows: PreparedRows, read: (index: number) => T): T[] =>
  Array.from({ length: rows.count }, (_, index) => read(index));

const subjectsOf = (rows: PreparedRows): string[] => all(rows, (index) => rows.subjectOf(index));

const bodiesOf = (rows: PreparedRows): string[] =>
  all(rows, (index) => text.decode(rows.bytes.subarray(rows.offsets[index], rows.offsets[index + 1])));

function headersOf(rows: PreparedRows, index: number): string[] {
  const block = new Uint8Array(rows.headerBytes(index));
  assert.equal(rows.writeHeaders(index, block, 0), block.length);
  const lines = text.decode(block).split("\r\n");
  assert.deepEqual([lines.shift(), lines.pop(), lines.pop()], ["NATS/1.0", "", ""]);
  return lines;
}

function refusal(make: () => unknown): EncodeError {
  try {
    make();
  } catch (error) {
    assert.ok(error instanceof EncodeError, String(error));
    return error;
  }
  assert.fail("nothing was thrown");
}

Deno.test("a subject contains the values of its row, for every type that can be a token", () => {
  const columns: Values = {
    text: strings(["a", "B-1_\u00e4"]),
    coded: arrow.vectorFromArray(["x", "y"], new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())),
    big: arrow.vectorFromArray([9223372036854775807n, -1n], new arrow.Int64()),
    flag: arrow.vectorFromArray([true, false], new arrow.Bool()),
    day: arrow.vectorFromArray([new Date("2024-01-31"), new Date("1969-12-31")], new arrow.DateDay()),
    "a.b c": strings(["dotted", "name"]),
  };
  const rows = prepared(tableOf(columns), {
    subject: "{row.text}.{resource}.{row.coded}-{row.big}.{row.flag}.{row.day}.{row.a.b c}",
  });
  assert.deepEqual(subjectsOf(rows), [
    "a.eu.x-9223372036854775807.true.2024-01-31.dotted",
    "B-1_\u00e4.eu.y--1.false.1969-12-31.name",
  ]);
  assert.equal(rows.target.fields.subject, "*.eu.*.*.*.*");
});

Deno.test("a subject contains a UUID as its 36 characters", () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => i);
  const data = arrow.makeData({ type: new arrow.FixedSizeBinary(16), length: 1, data: bytes, nullCount: 0 });
  const metadata = new Map([["ARROW:extension:name", "arrow.uuid"]]);
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.FixedSizeBinary(16), true, metadata)]);
  const struct = arrow.makeData({ type: new arrow.Struct(schema.fields), length: 1, children: [data], nullCount: 0 });
  const rows = new arrow.RecordBatch(schema, struct) as unknown as ArrowRows;
  assert.deepEqual(subjectsOf(prepared(rows, { subject: "s.{row.id}" })), ["s.00010203-0405-0607-0809-0a0b0c0d0e0f"]);
  assert.equal(
    refusal(() => prepared(tableOf({ id: new arrow.Vector([data]) }), { subject: "s.{row.id}" })).code,
    "encode.type",
  );
});

Deno.test("the option json changes the body, but no subject, header or id", () => {
  const rows = tableOf({
    big: arrow.vectorFromArray([9007199254740993n, null], new arrow.Int64()),
    at: arrow.vectorFromArray([0, 1], new arrow.TimestampMillisecond()),
  });
  const columns: Partial<PublisherOptions> = {
    subject: "s.{row.big|none}",
    headers: { "X-At": "{row.at}" },
    eventIdColumn: ["big", "at"],
  };
  const plain = prepared(rows, columns);
  const json = { int64: "string", timestamp: "ms", nulls: "omit" } as const;
  const formed = prepared(rows, { ...columns, json });
  assert.deepEqual(bodiesOf(formed), ['{"big":"9007199254740993","at":0}', '{"at":1}']);
  assert.deepEqual(subjectsOf(formed), subjectsOf(plain));
  for (const row of [0, 1]) assert.deepEqual(headersOf(formed, row), headersOf(plain, row));
});

Deno.test("a fallback replaces null and the empty string", () => {
  const rows = tableOf({ region: strings(["eu", null, ""]) });
  assert.deepEqual(subjectsOf(prepared(rows, { subject: "s.{row.region|none}" })), ["s.eu", "s.none", "s.none"]);
});

for (
  const [what, value, says] of [
    ["null", null, "the value must not be null. Give a fallback, as in {row.region|none}."],
    ["the empty string", "", "the value must not be empty. Give a fallback"],
    [
      "a dot",
      "a.b",
      'the value must not contain a dot: received "a.b". Change the value, or set subjectEscape to "percent".',
    ],
    ["a *", "a*", "must not contain a wildcard"],
    ["a >", ">", "must not contain a wildcard"],
    ["a blank", "a b", "must not contain white space or control characters"],
    ["a line feed", "a\n", "must not contain white space or control characters"],
    ["DEL", "\u007f", "must not contain white space or control characters"],
    ["a no-break space", "a\u00a0b", "must not contain white space or control characters"],
    ["NEL", "\u0085", "must not contain white space or control characters"],
  ] as const
) {
  Deno.test(`a value with ${what} is refused as a subject's token, with row and column`, () => {
    const rows = tableOf({ region: strings(["eu", value]) });
    const error = refusal(() => prepared(rows, { subject: "s.{row.region}" }));
    assert.deepEqual([error.code, error.row, error.column], ["encode.subject", 1, "region"]);
    assert.ok(error.message.includes(says), error.message);
    assert.ok(error.message.startsWith('Cannot take the subject of row 1 from column "region": '), error.message);
  });
}

Deno.test("a value that is not valid UTF-8 is refused in a subject, in a header and in an id", () => {
  const data = arrow.makeData({
    type: new arrow.Utf8(),
    length: 1,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, 1),
    data: Uint8Array.of(0xff),
  });
  const rows = tableOf({ a: new arrow.Vector([data]) });
  assert.equal(refusal(() => prepared(rows, { subject: "s.{row.a}" })).code, "encode.subject");
  assert.equal(refusal(() => prepared(rows, { headers: { A: "{row.a}" } })).code, "encode.header");
  assert.equal(refusal(() => prepared(rows, { eventIdColumn: "a" })).code, "encode.id");
  const both = tableOf({ a: new arrow.Vector([data]), b: strings(["x"]) });
  const error = refusal(() => prepared(both, { eventIdColumn: ["b", "a"] }));
  assert.deepEqual([error.code, error.row, error.column], ["encode.id", 0, "a"]);
});

Deno.test("a reserved prefix that comes from values is refused per row", () => {
  const rows = tableOf({ a: strings(["$KV", "$JS"]), b: strings(["x", "y"]) });
  const error = refusal(() => prepared(rows, { subject: "{row.a}.{row.b}" }));
  assert.deepEqual([error.code, error.row, error.column], ["encode.subject", 1, "a"]);
  assert.match(error.message, /must not be below \$JS\., which is reserved by the server: received "\$JS\.y"/);
});

Deno.test("a subject too long for a protocol line is refused with its row", () => {
  const fits = subjectsOf(prepared(tableOf({ a: strings(["x".repeat(4000)]) }), { subject: "s.{row.a}" }));
  assert.equal(fits[0]!.length, 4002);
  const error = refusal(() => prepared(tableOf({ a: strings(["x", "x".repeat(4090)]) }), { subject: "s.{row.a}" }));
  assert.deepEqual([error.code, error.row], ["encode.subject", 1]);
});

Deno.test("a fixed subject and a row's own may be as long as the protocol line allows with the largest sizes", () => {
  const rows = (length: number) => tableOf({ a: strings(["x".repeat(length)]), b: strings(["y"]) });
  const refuses = (make: () => unknown): boolean => {
    try {
      make();
      return false;
    } catch {
      return true;
    }
  };
  for (const [headers, headerBytes] of [[{}, 97], [{ A: "{row.b}" }, 65_535]] as const) {
    const longest = 4096 - commandLineBytes("", 40, headerBytes, 1_048_576);
    for (const [length, refused] of [[longest, false], [longest + 1, true]] as const) {
      const fixed = refuses(() => prepared(rows(1), { subject: "x".repeat(length), headers }));
      const own = refuses(() => prepared(rows(length), { subject: "{row.a}", headers, bodyColumns: { omit: ["a"] } }));
      assert.deepEqual({ length, fixed, own }, { length, fixed: refused, own: refused });
    }
  }
});

Deno.test("subjectEscape percent makes one token of every non-empty string, which can be decoded", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).filter((value) => value.isWellFormed()), {
        minLength: 1,
        maxLength: 20,
      }),
      (values) => {
        const rows = prepared(tableOf({ a: strings(values) }), { subject: "s.{row.a}.end", subjectEscape: "percent" });
        subjectsOf(rows).forEach((subject, row) => {
          assertSubject(subject);
          const [, token, ...rest] = subject.split(".");
          assert.deepEqual([decodeURIComponent(token!), rest], [values[row], ["end"]]);
        });
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("subjects agree with a simple expansion, and are refused when it refuses them", () => {
  const value = fc.option(fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 5 }),
    fc.constantFrom("eu", "us", "a.b", "*", "x>", "%", "a%20b", "$JS", "\t", "\u3000", "\u00e9"),
  ));
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: value, b: value }), { minLength: 1, maxLength: 12 }),
      fc.constantFrom("{row.a}", "s.{row.a}", "s.{row.a|none}.{row.b|-}", "s.x-{row.a}-{row.b}.t"),
      (values, subject) => {
        const rows = tableOf({ a: strings(values.map(({ a }) => a)), b: strings(values.map(({ b }) => b)) });
        const expected = values.map((row) => plainSubject(subject, row));
        const wrong = expected.indexOf(undefined);
        if (wrong < 0) {
          assert.deepEqual(subjectsOf(prepared(rows, { subject })), expected);
          return;
        }
        const error = refusal(() => prepared(rows, { subject }));
        assert.deepEqual([error.code, error.row], ["encode.subject", wrong]);
      },
    ),
    { numRuns: 1000 },
  );
});

/** The subject of a row, computed in a slow way; undefined if it must be refused. */
function plainSubject(template: string, row: Readonly<Record<string, string | null>>): string | undefined {
  let isToken = true;
  const subject = template.replace(/\{row\.(\w+)(?:\|([^}]*))?\}/g, (_, name: string, fallback?: string) => {
    const value = row[name] || fallback;
    if (value === undefined || /[.*>\s\p{Cc}]/u.test(value)) isToken = false;
    return value ?? "";
  });
  if (!isToken) return undefined;
  try {
    assertSubject(subject);
    return subject;
  } catch {
    return undefined;
  }
}

Deno.test("a header contains the value of its row, and is omitted for null", () => {
  const columns: Values = {
    region: strings(["eu", null, ""]),
    price: arrow.vectorFromArray([0.1, NaN, -0], new arrow.Float64()),
    at: arrow.vectorFromArray([0, 1500, 1], new arrow.TimestampMillisecond()),
  };
  const headers = {
    "X-First": "fixed",
    "X-Region": "{row.region}",
    "X-Both": "{row.region|none}/{row.price}",
    "X-At": "{row.at}",
    "X-Last": "fixed, too",
  };
  const rows = prepared(tableOf(columns), { headers });
  const own = ["Content-Type: application/json", "Filament-Operation: insert", "Nats-Expected-Stream: S"];
  assert.deepEqual(all(rows, (index) => headersOf(rows, index)), [
    [...own, "X-First: fixed", "X-Region: eu", "X-Both: eu/0.1", "X-At: 1970-01-01T00:00:00", "X-Last: fixed, too"],
    [...own, "X-First: fixed", "X-Both: none/NaN", "X-At: 1970-01-01T00:00:01.5", "X-Last: fixed, too"],
    [...own, "X-First: fixed", "X-Region: ", "X-Both: none/-0", "X-At: 1970-01-01T00:00:00.001", "X-Last: fixed, too"],
  ]);
});

Deno.test("subjects and headers in memory of earlier pieces equal those in new memory", () => {
  const options = { subject: "s.{row.a|none}", headers: { "X-A": "{row.a}", "X-B": "{row.b|-}/{row.a}" } };
  const value = fc.option(fc.stringMatching(/^[a-z]{0,9}$/));
  const piece = fc.array(fc.record({ a: value, b: value, id: value }), { minLength: 1, maxLength: 40 });
  fc.assert(fc.property(fc.array(piece, { minLength: 2, maxLength: 6 }), (pieces) => {
    const memory = new PieceMemory();
    for (const values of pieces) {
      const column = (name: "a" | "b") => strings(values.map((row) => row[name]));
      const ids = strings(values.map(({ id }, row) => id && `${row} ${id}`));
      const rows = tableOf({ a: column("a"), b: column("b"), _filament_event_id: ids });
      const plain = prepared(rows, options);
      const reused = prepared(rows, options, {}, {}, memory);
      assert.deepEqual(subjectsOf(reused), subjectsOf(plain));
      const headers = (of: PreparedRows) => all(of, (index) => headersOf(of, index));
      assert.deepEqual(headers(reused), headers(plain));
      reused.free();
      reused.free();
      for (const { bytes, offsets } of [memory.subjects, memory.lines]) {
        for (const spare of [bytes, offsets]) {
          const given = spare.take()!;
          assert.ok(spare.take() === undefined, "free() gives memory back once");
          spare.give(given.fill(0xee));
        }
      }
    }
  }));
});

Deno.test("a million subjects of as many rows are written to the memory of the first piece", () => {
  const memory = new PieceMemory();
  const options = { subject: "s.{row.n}", headers: { "X-N": "{row.n}" } };
  const buffers = new Set<ArrayBuffer>();
  const size = 50_000;
  for (let first = 1_000_000; first < 2_000_000; first += size) {
    const numbers = Int32Array.from({ length: size }, (_, i) => first + i);
    const rows = prepared(tableOf({ n: arrow.vectorFromArray(numbers) }), options, {}, {}, memory);
    assert.equal(rows.subjectOf(size - 1), `s.${first + size - 1}`);
    buffers.add(rows.subjectBytes.buffer as ArrayBuffer);
    rows.free();
  }
  assert.equal(buffers.size, 1);
});

for (const value of ["a\r\nNats-Rollup: all", "a\nb", "\0", "x Nats-Msg-Id: 1"]) {
  Deno.test(`a header is refused for the value ${JSON.stringify(value)}, with row and column`, () => {
    const rows = tableOf({ a: strings(["fine", value]) });
    const error = refusal(() => prepared(rows, { headers: { "X-A": "{row.a}" } }));
    assert.deepEqual([error.code, error.row, error.column], ["encode.header", 1, "a"]);
    assert.match(error.message, /^Cannot take header "X-A" of row 1 from column "a": the value must not contain /);
  });
}

Deno.test("headers before the id, the id last, sizes exact to the byte", () => {
  const rows = tableOf({ _filament_event_id: strings(["e1", null]), region: strings(["eu", "far-away"]) });
  const made = prepared(rows, { subject: "s.{row.region}", headers: { "X-Region": "{row.region}" } });
  const id = messageId({ ...SCOPE, subject: expandTemplate("s.{row.region}", "eu") }, "e1");
  assert.deepEqual(headersOf(made, 0).slice(-2), ["X-Region: eu", `Nats-Msg-Id: ${id}`]);
  assert.deepEqual(headersOf(made, 1).slice(-1), ["X-Region: far-away"]);
  const sizes = all(
    made,
    (index) =>
      made.headerBytes(index) + new TextEncoder().encode(bodiesOf(made)[index]).length +
      subjectsOf(made)[index]!.length,
  );
  assert.deepEqual(all(made, (index) => made.sizeOf(index)), sizes);
  for (const index of [0, 1]) {
    const message = sizes[index]! - subjectsOf(made)[index]!.length;
    const limit = Math.max(...sizes) - 1;
    assert.equal(made.largestMessage() >= message, true);
    const error = refusal(() =>
      prepared(rows, { subject: "s.{row.region}", headers: { "X-Region": "{row.region}" } }, {
        only: [index],
      }, { maxMessageBytes: message - 1 })
    );
    assert.deepEqual([error.code, error.row, error.size, error.limit], [
      "encode.too_large",
      index,
      message,
      message - 1,
    ]);
    const window = refusal(() =>
      prepared(rows, { subject: "s.{row.region}", headers: { "X-Region": "{row.region}" } }, {
        only: [index],
      }, { maxInFlightBytes: sizes[index]! - 1 })
    );
    assert.deepEqual([window.code, window.size, window.limit], ["encode.too_large", sizes[index], sizes[index]! - 1]);
    assert.ok(limit > 0);
  }
});

Deno.test("one id on two subjects, or with two headers, is refused: the stream would drop the second row", () => {
  const rows = tableOf({ _filament_event_id: strings(["e", "e"]), a: strings(["x", "y"]) });
  const bodyColumns = { omit: ["a"] };
  for (
    const [options, what] of [[{ subject: "s.{row.a}" }, "subject"], [{ headers: { A: "{row.a}" } }, "header"]] as const
  ) {
    const error = refusal(() => prepared(rows, { ...options, bodyColumns }));
    assert.deepEqual([error.code, error.row], ["encode.duplicate_id", 1]);
    assert.match(error.message, new RegExp(`another ${what}: the stream would drop it\\. .* in eventIdColumn\\.$`));
  }
  assert.equal(prepared(rows, { bodyColumns }).count, 2);
});

Deno.test("bodyColumns picks columns in its order, or omits some", () => {
  const rows = tableOf({ a: strings(["1"]), b: strings(["2"]), c: strings(["3"]) });
  const body = (options: Partial<PublisherOptions>) => bodiesOf(prepared(rows, options))[0];
  assert.equal(body({ bodyColumns: { pick: ["c", "a"] } }), '{"c":"3","a":"1"}');
  assert.equal(body({ bodyColumns: { omit: ["b"] } }), '{"a":"1","c":"3"}');
  assert.equal(body({ bodyColumns: { omit: [] } }), '{"a":"1","b":"2","c":"3"}');
  assert.equal(body({ bodyColumns: { omit: ["a", "b", "c"] } }), "{}");
  assert.equal(body({ subject: "s.{row.a}", bodyColumns: { omit: ["a"] } }), '{"b":"2","c":"3"}');
});

Deno.test("rawBodyColumn sends the bytes of a column unchanged, and nothing for null", () => {
  const binary = arrow.vectorFromArray([Uint8Array.of(0, 255), null, new Uint8Array(0)], new arrow.Binary());
  const rows = tableOf({ payload: binary, text: strings(['{"a": 1}', null, "\u00e4"]) });
  const raw = prepared(rows, { rawBodyColumn: "payload" });
  assert.deepEqual([...raw.bytes], [0, 255]);
  assert.deepEqual([...raw.offsets], [0, 2, 2, 2]);
  assert.equal(headersOf(raw, 0)[0], "Content-Type: application/octet-stream");
  const events = prepared(rows, { rawBodyColumn: "text", contentType: "application/cloudevents+json" });
  assert.deepEqual(bodiesOf(events), ['{"a": 1}', "", "\u00e4"]);
  assert.equal(headersOf(events, 0)[0], "Content-Type: application/cloudevents+json");
});

Deno.test("operationColumn sets each row's operation, and refuses values that are not mapped", () => {
  const rows = tableOf({ op: strings(["c", "u", "d", "r"]) });
  const operationValues = { c: "insert", u: "update", d: "delete", r: "insert" } as const;
  const made = prepared(rows, { operationColumn: "op", operationValues });
  assert.deepEqual(
    all(made, (index) => headersOf(made, index)[1]),
    ["insert", "update", "delete", "insert"].map((word) => `Filament-Operation: ${word}`),
  );
  const unmapped = refusal(() => prepared(rows, { operationColumn: "op" }));
  assert.deepEqual([unmapped.code, unmapped.row, unmapped.column], ["encode.operations", 0, "op"]);
  assert.match(
    unmapped.message,
    /must be one of "insert", "update", "delete": received "c"\. Map it with operationValues, or change/,
  );
  const nulls = tableOf({ op: strings(["insert", null]) });
  assert.match(refusal(() => prepared(nulls, { operationColumn: "op" })).message, /row 1 .*received null/);
  assert.throws(() => prepared(rows, { operationColumn: "op", operationValues }, { operations: "insert" }), {
    name: "ConfigError",
    code: "config.conflict",
    field: "operations",
  });
});

Deno.test("a missing column and a column of a wrong type are refused before any row is read", () => {
  const rows = tableOf({ f: arrow.vectorFromArray([0.5], new arrow.Float64()), s: strings(["x"]) });
  const cases: readonly (readonly [Partial<PublisherOptions>, string, string])[] = [
    [{ subject: "s.{row.nope}" }, "encode.no_column", "nope"],
    [{ subject: "s.{row.f}" }, "encode.type", "f"],
    [{ headers: { A: "{row.nope}" } }, "encode.no_column", "nope"],
    [{ operationColumn: "nope" }, "encode.no_column", "nope"],
    [{ operationColumn: "f" }, "encode.type", "f"],
    [{ bodyColumns: { pick: ["s", "nope"] } }, "encode.no_column", "nope"],
    [{ bodyColumns: { omit: ["nope"] } }, "encode.no_column", "nope"],
    [{ rawBodyColumn: "nope" }, "encode.no_column", "nope"],
    [{ rawBodyColumn: "f" }, "encode.type", "f"],
    [{ eventIdColumn: ["s", "nope"] }, "encode.no_id_column", "nope"],
    [{ eventIdColumn: ["s", "f"] }, "encode.id", "f"],
  ];
  for (const [options, code, column] of cases) {
    const error = refusal(() => prepared(rows, options));
    assert.deepEqual([error.code, error.column, error.row], [code, column, undefined], JSON.stringify(options));
  }
});

Deno.test("the error of a missing column says what the column was named for", () => {
  const rows = tableOf({ s: strings(["x"]) });
  const cases: readonly (readonly [Partial<PublisherOptions>, string])[] = [
    [{ subject: "s.{row.nope}" }, "take subjects from"],
    [{ headers: { A: "{row.nope}" } }, 'take header "A" from'],
    [{ operationColumn: "nope" }, "take operations from"],
    [{ bodyColumns: { pick: ["nope"] } }, "make bodies of"],
    [{ bodyColumns: { omit: ["nope"] } }, "leave out"],
    [{ rawBodyColumn: "nope" }, "take bodies from"],
  ];
  for (const [options, purpose] of cases) {
    const { message } = refusal(() => prepared(rows, options));
    assert.equal(message, `Cannot ${purpose} column "nope": the rows have no such column: they have "s"`);
  }
});
