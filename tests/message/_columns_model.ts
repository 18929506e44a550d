/** Computes the messages of a table with given options, in a slow and simple way. */

import { createHash } from "node:crypto";
import * as arrow from "apache-arrow";
import type { Maker } from "../_support/arrow/makers.ts";
import type { PublisherOptions } from "../../src/types/mod.ts";

/** Values by column, and the columns' makers. */
export interface ModelTable {
  readonly names: readonly string[];
  readonly makers: readonly Maker[];
  readonly rows: readonly (readonly unknown[])[];
}

/** The options that name columns. */
export type ColumnOptions = Pick<
  PublisherOptions,
  | "subject"
  | "subjectEscape"
  | "headers"
  | "eventIdColumn"
  | "operationColumn"
  | "operationValues"
  | "bodyColumns"
  | "rawBodyColumn"
  | "contentType"
>;

/** A message. */
export interface ModelMessage {
  readonly subject: string;
  /** The header lines after `NATS/1.0`, without `Nats-Expected-Stream`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** The result of a row: a message, or the codes of the errors with which it may be refused. */
export type ModelRow = { readonly message: ModelMessage } | { readonly codes: readonly string[] };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Whether a column is of strings, is binary, and is accepted by subjects, headers and ids. */
export const isText = ({ name }: Maker): boolean => /^(dictionary<)?(large )?utf8/.test(name);
export const isBinary = ({ name }: Maker): boolean => name.includes("binary");
const kindOf = (pattern: RegExp) => ({ name }: Maker): boolean => pattern.test(name.replace(/^dictionary</, ""));

export const FOR_SUBJECTS = kindOf(/^(large utf8|utf8|u?int\d|bool|date)/);
export const FOR_HEADERS = kindOf(/^(large utf8|utf8|u?int\d|bool|date|decimal|float|time)/);
export const FOR_IDS = kindOf(/^(large utf8|utf8|u?int\d|bool|date|decimal|timestamp|fixed binary)/);

/** A table of one or several batches, which end after these rows. */
export function tableOf({ names, makers, rows }: ModelTable, ends: readonly number[]): arrow.Table {
  const fields = makers.map((maker, at) => new arrow.Field(names[at]!, maker.type, true));
  const schema = new arrow.Schema(fields);
  const cuts = [
    0,
    ...[...new Set(ends)].sort((a, b) => a - b).filter((end) => end > 0 && end < rows.length),
    rows.length,
  ];
  const batches = cuts.slice(1).map((end, at) => {
    const part = rows.slice(cuts[at], end);
    const children = makers.map((maker, column) => maker.data(part.map((row) => row[column] ?? null)));
    const type = new arrow.Struct(fields);
    return new arrow.RecordBatch(schema, arrow.makeData({ type, length: part.length, nullCount: 0, children }));
  });
  return new arrow.Table(schema, batches);
}

/** A value: its JSON, its bytes as a token, a header or an id, and its bytes as a body. */
interface Cell {
  readonly json: string;
  readonly bytes: Uint8Array | null;
  readonly raw: Uint8Array;
}

function cellOf(maker: Maker, value: unknown): Cell {
  if (value === null) return { json: "null", bytes: null, raw: new Uint8Array(0) };
  const json = maker.text(value);
  const raw = value instanceof Uint8Array ? value : new Uint8Array(0);
  return { json, raw, bytes: isText(maker) ? raw : encoder.encode(json.replaceAll('"', "")) };
}

const isValid = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

const PLACEHOLDER = /\{row\.([^}|]+)(?:\|([^}]*))?\}/g;

class Refused extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** Returns the result of each row on a stream, for a resource. */
export function modelOf(
  { names, makers, rows }: ModelTable,
  options: ColumnOptions,
  { stream, resource }: { readonly stream: string; readonly resource: string },
): readonly ModelRow[] {
  const wrong = wrongColumn(names, makers, options);
  return rows.map((row) => {
    const cells = new Map(names.map((name, at) => [name, cellOf(makers[at]!, row[at])]));
    const codes: string[] = wrong === undefined ? [] : [wrong];
    const attempt = <T>(make: () => T): T | undefined => {
      try {
        return make();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        codes.push(error.code);
      }
    };
    const subject = attempt(() => subjectOf(options, resource, cells));
    const lines = attempt(() => headersOf(options, cells)) ?? [];
    const id = attempt(() => idOf(options, names, makers, stream, resource, cells));
    const operation = options.operationColumn === undefined
      ? "insert"
      : wordOf(options, decoder.decode(cells.get(options.operationColumn)!.bytes!));
    const type = options.contentType ??
      (options.rawBodyColumn === undefined ? "application/json" : "application/octet-stream");
    if (codes.length > 0) return { codes };
    return {
      message: {
        subject: subject!,
        headers: [
          `Content-Type: ${type}`,
          `Filament-Operation: ${operation}`,
          ...lines,
          ...(id === undefined ? [] : [`Nats-Msg-Id: ${id}`]),
        ],
        body: bodyOf(options, names, cells),
      },
    };
  });
}

function wordOf({ operationValues }: ColumnOptions, word: string): string {
  return (operationValues as Record<string, string> | undefined)?.[word] ?? word;
}

/** Returns the error code for a column whose type an option does not accept. */
function wrongColumn(names: readonly string[], makers: readonly Maker[], options: ColumnOptions): string | undefined {
  const makerOf = (name: string): Maker => makers[names.indexOf(name)]!;
  const named = (template: string) => [...template.matchAll(PLACEHOLDER)].map(([, name]) => makerOf(name!));
  if (options.rawBodyColumn !== undefined) {
    const maker = makerOf(options.rawBodyColumn);
    if (!isText(maker) && !isBinary(maker)) return "encode.type";
  }
  if (!idNames(options, names).map(makerOf).every(FOR_IDS)) return "encode.id";
  if (!named(options.subject).every(FOR_SUBJECTS)) return "encode.type";
  if (!Object.values(options.headers ?? {}).flatMap(named).every(FOR_HEADERS)) return "encode.type";
}

function idNames({ eventIdColumn = "_filament_event_id" }: ColumnOptions, names: readonly string[]): readonly string[] {
  return [eventIdColumn].flat().filter((name) => names.includes(name));
}

function subjectOf({ subject, subjectEscape }: ColumnOptions, resource: string, cells: Map<string, Cell>): string {
  const expanded = subject.replaceAll("{resource}", resource).replaceAll(PLACEHOLDER, (_, name, fallback) => {
    const { bytes } = cells.get(name)!;
    if (bytes === null || bytes.length === 0) {
      if (fallback === undefined) throw new Refused("encode.subject");
      return fallback;
    }
    if (!isValid(bytes)) throw new Refused("encode.subject");
    const value = decoder.decode(bytes);
    const unsafe = (character: string): boolean => ".*>%".includes(character) || /[\s\p{Cc}]/u.test(character);
    if (subjectEscape === "percent") {
      return [...value].map((character) =>
        unsafe(character)
          ? [...encoder.encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
            "",
          )
          : character
      ).join("");
    }
    if ([...value].some((character) => character !== "%" && unsafe(character))) throw new Refused("encode.subject");
    return value;
  });
  return expanded;
}

function headersOf({ headers = {} }: ColumnOptions, cells: Map<string, Cell>): string[] {
  return Object.entries(headers).flatMap(([name, template]) => {
    let isLeftOut = false;
    const value = template.trim().replaceAll(PLACEHOLDER, (_, column, fallback) => {
      const { bytes } = cells.get(column)!;
      if (fallback !== undefined && (bytes === null || bytes.length === 0)) return fallback;
      if (bytes === null) {
        isLeftOut = true;
        return "";
      }
      if (isLeftOut) return "";
      if (!isValid(bytes) || /[\r\n\0]/.test(decoder.decode(bytes))) throw new Refused("encode.header");
      return decoder.decode(bytes);
    });
    if (isLeftOut) return [];
    if (value.includes("Nats-Msg-Id")) throw new Refused("encode.header");
    return [`${name}: ${value}`];
  });
}

function idOf(
  options: ColumnOptions,
  names: readonly string[],
  makers: readonly Maker[],
  stream: string,
  resource: string,
  cells: Map<string, Cell>,
): string | undefined {
  const columns = idNames(options, names);
  if (columns.length === 0) return undefined;
  const values = columns.map((name) => cells.get(name)!);
  if (values.every(({ bytes }) => bytes === null)) return undefined;
  const strings = columns.filter((name) => isText(makers[names.indexOf(name)]!)).map((name) => cells.get(name)!.bytes);
  if (strings.some((bytes) => bytes !== null && !isValid(bytes))) throw new Refused("encode.id");
  const [{ bytes }] = values as [Cell];
  const event = columns.length === 1 ? decoder.decode(bytes!) : `[${values.map(({ json }) => json).join(",")}]`;
  if (event === "") return undefined;
  const go = (value: string): string =>
    JSON.stringify(value).replaceAll(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  const subject = options.subject.replaceAll("{resource}", resource);
  const identity = [go('["","",""]'), go(stream), go(subject), go(resource), go(event)].join(",");
  return createHash("sha256").update(`[${identity}]`).digest("hex");
}

function bodyOf(
  { bodyColumns, rawBodyColumn }: ColumnOptions,
  names: readonly string[],
  cells: Map<string, Cell>,
): Uint8Array {
  if (rawBodyColumn !== undefined) return cells.get(rawBodyColumn)!.raw;
  const columns = bodyColumns?.pick ?? names.filter((name) => !bodyColumns?.omit?.includes(name));
  return encoder.encode(`{${columns.map((name) => `${JSON.stringify(name)}:${cells.get(name)!.json}`).join(",")}}`);
}
