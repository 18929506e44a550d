import assert from "node:assert/strict";
import { resolveOptions } from "../../src/options/publisher.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import type { RowBatch } from "../../src/types/mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";

const settings = resolveOptions({ stream: "ORDERS", subject: "orders.{resource}" });
const batch: RowBatch = { resource: "r", rows: numberBatch(2) };

Deno.test("openBatch() refuses a misspelt key, so that rows to be deleted are not inserted", () => {
  for (
    const [key, meant] of [["operation", "operations"], ["Only", "only"], ["resorce", "resource"], ["row", "rows"]]
  ) {
    const { [meant as keyof RowBatch]: _, ...rest } = batch;
    assert.throws(() => openBatch({ ...rest, [key!]: "delete" } as unknown as RowBatch, settings), {
      name: "ConfigError",
      code: "config.unknown",
      field: key,
      message: `Unknown key of a batch "${key}": did you mean "${meant}"?`,
    });
  }
});

Deno.test("openBatch() ignores a batch's other keys", () => {
  const { selected } = openBatch({ ...batch, file: "a.arrow", one: 1, offset: 0, batch: 3 } as RowBatch, settings);
  assert.equal(selected, 2);
  // Getters of a class, and keys that are similar to valid ones that are present.
  class Own {
    _rows = batch.rows;
    source = "a.arrow";
    readonly resource = "r";
    get rows() {
      return this._rows;
    }
  }
  assert.equal(openBatch(new Own(), settings).selected, 2);
});

Deno.test("openBatch() throws on what is not a batch", () => {
  for (const [wrong, shown] of [[undefined, "undefined"], [[], "undefined"], ["r", '"r"'], [{ resource: 5 }, "5"]]) {
    assert.throws(() => openBatch(wrong as never, settings), {
      name: "ConfigError",
      code: "config.type",
      field: "resource",
      message: `resource must be the name of a destination: received ${shown}`,
    });
  }
});
