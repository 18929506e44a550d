/**
 * Rows in other forms, made from their default JSON and their Arrow data: slow, by strings and BigInts, and without code
 * of the encoder.
 */

import * as arrow from "apache-arrow";
import type { JsonForms, JsonValueForms } from "../../../src/types/mod.ts";

/** A JSON value with its digits as they are written. */
type Node = { readonly raw: string; readonly items?: readonly Node[]; readonly names?: readonly string[] };

/** Thrown for a timestamp that the unit cannot hold. */
export class DigitsLost extends Error {}

/** Parses JSON. White space, which only embedded JSON has, belongs to the value that it surrounds. */
function parse(text: string): Node {
  let at = 0;
  const take = (pattern: RegExp): string => {
    const [taken] = pattern.exec(text.slice(at))!;
    at += taken.length;
    return taken;
  };
  const value = (): Node => {
    const start = at;
    take(/^\s*/);
    const first = text[at]!;
    if (first !== "[" && first !== "{") {
      take(/^(?:"(?:[^"\\]|\\.)*"|[^\s,\]}]*)\s*/s);
      return { raw: text.slice(start, at) };
    }
    const [items, names]: [Node[], string[]] = [[], []];
    at++;
    while (!/^\s*[\]}]/.test(text.slice(at))) {
      if (first === "{") names.push(take(/^\s*"(?:[^"\\]|\\.)*"/s)), take(/^\s*:/);
      items.push(value());
      take(/^,?/);
    }
    take(/^\s*.\s*/);
    return { raw: text.slice(start, at), items, ...(first === "{" && { names }) };
  };
  return value();
}

/** The JSON of a row in some forms; `data` is the struct of a whole batch, `text` the row in the default forms. */
export function rowInForms(schema: arrow.Schema, data: arrow.Data, row: number, text: string, json: JsonForms): string {
  const { columns = {}, ...all } = json;
  const nodes = parse(text).items!;
  const members = schema.fields.map((field, at) => {
    const forms = { ...all, ...(Object.hasOwn(columns, field.name) ? columns[field.name] : {}) };
    return writeMember(JSON.stringify(field.name), field, data.children[at]!, row, nodes[at]!, forms);
  });
  return `{${members.filter((written) => written !== undefined).join(",")}}`;
}

function writeMember(
  name: string,
  field: arrow.Field,
  data: arrow.Data,
  slot: number,
  node: Node,
  forms: JsonValueForms,
) {
  const written = writeValue(field, data, slot, node, forms);
  const isEmbedded = meaningOf(field, data, slot) === "json";
  if (forms.nulls === "omit" && written === "null" && !(isEmbedded && !isNull(field, data, slot))) return undefined;
  return `${name}:${written}`;
}

const meaning = ({ metadata }: arrow.Field): string | undefined =>
  metadata.get("ARROW:extension:name") === "arrow.json" ? "json" : metadata.get("filament.logical");

/** The type of the value itself, behind dictionaries and unions. */
function meaningOf(field: arrow.Field, data: arrow.Data, slot: number): string | undefined {
  if (!arrow.DataType.isUnion(field.type)) return meaning(field);
  const [child, childData, place] = unionMember(field, data, slot);
  return meaningOf(child, childData, place);
}

function isNull(field: arrow.Field, data: arrow.Data, slot: number): boolean {
  if (arrow.DataType.isUnion(field.type)) {
    const [child, childData, place] = unionMember(field, data, slot);
    return isNull(child, childData, place);
  }
  if (!data.getValid(slot)) return true;
  if (!arrow.DataType.isDictionary(field.type)) return false;
  const [chunk, place] = dictionaryValue(data, slot);
  return !chunk.getValid(place);
}

/** The chunk of a dictionary that contains a row's value, and the slot in it. */
function dictionaryValue(data: arrow.Data, slot: number): [arrow.Data, number] {
  let place = Number(data.values[slot]);
  for (const chunk of data.dictionary!.data) {
    if (place < chunk.length) return [chunk, place];
    place -= chunk.length;
  }
  throw new RangeError(`index ${data.values[slot]}`);
}

/** The member of a union that a row has, its data and the slot in it. */
function unionMember({ type }: arrow.Field, data: arrow.Data, slot: number): [arrow.Field, arrow.Data, number] {
  const code = data.typeIds[slot]!;
  const at = [...(type as arrow.Union).typeIds].indexOf(code);
  const isDense = arrow.DataType.isDenseUnion(type);
  return [type.children[at]!, data.children[at]!, isDense ? data.valueOffsets[slot]! : slot];
}

function writeValue(field: arrow.Field, data: arrow.Data, slot: number, node: Node, forms: JsonValueForms): string {
  const { type } = field;
  if (arrow.DataType.isUnion(type)) {
    const [child, childData, place] = unionMember(field, data, slot);
    return writeValue(child, childData, place, node, forms);
  }
  if (node.raw === "null" || isNull(field, data, slot)) return node.raw;
  if (arrow.DataType.isDictionary(type)) {
    const [chunk, place] = dictionaryValue(data, slot);
    const value = new arrow.Field("", type.dictionary, true, field.metadata);
    return writeValue(value, chunk, place, node, forms);
  }
  if (arrow.DataType.isStruct(type)) {
    const members = type.children.map((child, at) =>
      writeMember(JSON.stringify(child.name), child, data.children[at]!, slot, node.items![at]!, forms)
    );
    return `{${members.filter((written) => written !== undefined).join(",")}}`;
  }
  if (arrow.DataType.isMap(type)) {
    const [key, value] = type.children[0]!.type.children as [arrow.Field, arrow.Field];
    const [keys, values] = data.children[0]!.children as [arrow.Data, arrow.Data];
    const first = Number(data.valueOffsets[slot]);
    const entries = node.items!.map((entry, at) => {
      if (node.names !== undefined) return `${node.names[at]}:${writeValue(value, values, first + at, entry, forms)}`;
      const [one, two] = entry.items as [Node, Node];
      return `[${writeValue(key, keys, first + at, one, forms)},${writeValue(value, values, first + at, two, forms)}]`;
    });
    return node.names === undefined ? `[${entries.join(",")}]` : `{${entries.join(",")}}`;
  }
  if (node.items !== undefined && meaning(field) !== "json") {
    const first = arrow.DataType.isFixedSizeList(type) ? slot * type.listSize : Number(data.valueOffsets[slot]);
    const items = node.items.map((item, at) =>
      writeValue(type.children[0]!, data.children[0]!, first + at, item, forms)
    );
    return `[${items.join(",")}]`;
  }
  return writeLeaf(field, data, slot, node.raw, forms);
}

function writeLeaf(field: arrow.Field, data: arrow.Data, slot: number, raw: string, forms: JsonValueForms): string {
  const { type } = field;
  const { DataType } = arrow;
  if (DataType.isInt(type) && type.bitWidth === 64) {
    const size = BigInt(raw) < 0n ? -BigInt(raw) : BigInt(raw);
    return forms.int64 === "string" || (forms.int64 === "safe" && size > 2n ** 53n - 1n) ? `"${raw}"` : raw;
  }
  const isText = DataType.isUtf8(type) || DataType.isLargeUtf8(type) || String(type) === "Utf8View";
  if (DataType.isDecimal(type) || (isText && meaning(field) === "decimal")) {
    if (raw.startsWith('"')) return forms.nonFinite === "null" ? "null" : raw;
    return forms.decimal === "string" ? `"${raw}"` : raw;
  }
  if (DataType.isFloat(type)) return raw.startsWith('"') && forms.nonFinite === "null" ? "null" : raw;
  if (DataType.isTimestamp(type)) return writeTimestamp(type, (data.values as BigInt64Array)[slot]!, raw, forms);
  if (DataType.isDate(type) && type.unit === arrow.DateUnit.DAY) {
    return forms.infinity === "duckdb" && data.values[slot] === -(2 ** 31) + 1 ? '"-infinity"' : raw;
  }
  const isBinary = DataType.isBinary(type) || DataType.isLargeBinary(type) || String(type) === "BinaryView" ||
    (DataType.isFixedSizeBinary(type) && field.metadata.get("ARROW:extension:name") !== "arrow.uuid");
  if (!isBinary) return raw;
  if (forms.binary === "hex") {
    return `"${[...atob(raw.slice(1, -1))].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("")}"`;
  }
  return forms.binary === "base64url" ? raw.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") : raw;
}

function writeTimestamp(type: arrow.Timestamp, value: bigint, raw: string, forms: JsonValueForms): string {
  if (forms.infinity === "duckdb" && value === -(2n ** 63n) + 1n) return '"-infinity"';
  if (raw.includes("infinity")) return raw;
  if (forms.timestamp === undefined || forms.timestamp === "iso") {
    return forms.naive !== "Z" || type.timezone ? raw : raw.replace(/( BC)?"$/, 'Z$1"');
  }
  const scaled = value * 1000n ** BigInt(["s", "ms", "us", "ns"].indexOf(forms.timestamp));
  const unit = 1000n ** BigInt(type.unit);
  if (scaled % unit !== 0n) throw new DigitsLost();
  return String(scaled / unit);
}
