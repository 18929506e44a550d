/**
 * How values are shown in error messages: on one line, cut to a length that a terminal bears.
 *
 * @module
 */

const LONGEST = 80;

/**
 * A value as an error message shows it: text quoted and cut to 80 characters, objects by their kind.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.ok(describe("a\nb") === '"a\\nb"');
 * assert.ok(describe(1.5) === "1.5" && describe(null) === "null" && describe([]) === "an array");
 * ```
 */
export function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > LONGEST
        ? `${JSON.stringify(value.slice(0, LONGEST))}... (${value.length} characters)`
        : JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return typeof value === "boolean" || value === undefined ? String(value) : `a ${typeof value}`;
  }
}
