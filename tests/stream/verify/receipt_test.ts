import assert from "node:assert/strict";
import { checkReceipt } from "../../../src/stream/verify/receipt.ts";

const RECEIPT = { stream: "ORDERS", rows: 5, bytes: 40, crc32c: 0xffffffff, sequences: [[7, 8], [11, 11], [2, 3]] };

Deno.test("checkReceipt() accepts a receipt parsed from JSON, with unknown keys", () => {
  const checked = checkReceipt(JSON.parse(JSON.stringify({ ...RECEIPT, uri: "nats://ORDERS/a", later: {} })));
  assert.deepEqual(checked, RECEIPT);
  assert.equal(checkReceipt({ ...RECEIPT, rows: 0, bytes: 0, crc32c: 0, sequences: undefined }).rows, 0);
});

Deno.test("checkReceipt() throws a ConfigError that names the malformed field", () => {
  const faults: readonly (readonly [field: string, value: unknown])[] = [
    ["stream", undefined],
    ["stream", 5],
    ["stream", "a.b"],
    ["stream", ""],
    ["rows", undefined],
    ["rows", "5"],
    ["rows", -1],
    ["rows", 5.5],
    ["rows", NaN],
    ["bytes", null],
    ["bytes", -1],
    ["bytes", 2 ** 60],
    ["crc32c", "4294967295"],
    ["crc32c", NaN],
    ["sequences", "1-5"],
    ["sequences", null],
    ["sequences", {}],
    ["sequences", [7, 8, 9, 10, 11]],
    ["sequences", [[8, 7], [1, 6]]],
    ["sequences", [[0, 4]]],
    ["sequences", [[1, 5, 9]]],
    ["sequences", [["1", "5"]]],
    ["sequences", [[1.5, 5.5]]],
    ["sequences", [[1, Infinity]]],
    ["sequences", [null]],
  ];
  for (const [field, value] of faults) {
    const rows = field === "rows" ? {} : { rows: RECEIPT.rows };
    const shown = `${field}: ${JSON.stringify(value)}`;
    assert.throws(() => checkReceipt({ ...RECEIPT, ...rows, [field]: value }), (error: Error & { field?: string }) => {
      assert.equal(error.name, "ConfigError", shown);
      assert.equal(error.field, field, shown);
      assert.match(error.message, /^receipt's .*: received /, shown);
      return true;
    });
  }
  for (const receipt of [undefined, null, 5, "receipt", []]) {
    assert.throws(() => checkReceipt(receipt), { name: "ConfigError", field: "receipt" });
  }
});

Deno.test("checkReceipt() throws when the sequences do not add up to the rows", () => {
  const wrong = [
    { rows: 6 },
    { rows: 0 },
    { sequences: [] },
    { sequences: [[1, 4]] },
    { sequences: [[1, Number.MAX_SAFE_INTEGER]] },
    { sequences: [[1, Number.MAX_SAFE_INTEGER], [1, Number.MAX_SAFE_INTEGER]] },
    { sequences: [[1, 3], [2, 4]] },
  ];
  for (const fields of wrong) {
    assert.throws(() => checkReceipt({ ...RECEIPT, ...fields }), {
      name: "ConfigError",
      code: "config.type",
      field: "sequences",
    }, JSON.stringify(fields));
  }
  assert.throws(() => checkReceipt({ ...RECEIPT, rows: 6 }), {
    message: "receipt's sequences must add up to its rows (6): received 5",
  });
});

Deno.test("checkReceipt() accepts impossible numbers, which verifying the rows reveals", () => {
  for (const wrong of [{ bytes: 41 }, { crc32c: RECEIPT.crc32c ^ 1 }, { crc32c: 2 ** 32 }]) {
    assert.deepEqual(checkReceipt({ ...RECEIPT, ...wrong }), { ...RECEIPT, ...wrong });
  }
});

Deno.test("checkReceipt() throws state.unverifiable for rows without sequences", () => {
  const { sequences: _, ...fast } = RECEIPT;
  assert.throws(() => checkReceipt(fast), { name: "StateError", code: "state.unverifiable", message: /fast/ });
});
