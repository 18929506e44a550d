/**
 * The types of jetrow: rows, options, receipts, epochs. Types only; nothing here runs.
 *
 * @module
 */

export type * from "./types/arrow.ts";
export type * from "./types/batch.ts";
export type * from "./types/connection.ts";
export type * from "./types/options.ts";
export type * from "./types/receipt.ts";
export type * from "./types/progress.ts";
export type * from "./types/identity.ts";
