/**
 * The types of jetrow: rows, options, receipts, epochs. Types only; nothing here runs.
 *
 * @module
 */

export type * from "./arrow.ts";
export type * from "./row_types.ts";
export type * from "./batch.ts";
export type * from "./connection.ts";
export type * from "./options.ts";
export type * from "./json_forms.ts";
export type * from "./receipt.ts";
export type * from "./progress.ts";
export type * from "./identity.ts";
