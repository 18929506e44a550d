/**
 * The options of `encodeRows`.
 *
 * @module
 */

import type { PublisherOptions } from "../types/mod.ts";
import { bodyColumns } from "./columns.ts";
import { applyRules, fieldsOf } from "./fields.ts";
import { jsonForms } from "./json_forms.ts";

const TABLE = { bodyColumns: { rule: bodyColumns }, json: { rule: jsonForms } } as const;

/** Checks the options of `encodeRows`: those of a publisher that decide what the bodies are. */
export function resolveEncodeRows(options: object): Pick<PublisherOptions, keyof typeof TABLE> {
  return applyRules(fieldsOf(options, Object.keys(TABLE), { field: "", spelling: "camel" }), TABLE);
}
