/** Orders: as JSON rows from outside, and as typed Arrow columns. */

import { Field, Int32, Schema, Table, TimestampMillisecond, Utf8, vectorFromArray } from "apache-arrow";

/** An order. Its id is its event id: an order that is sent again with the same id is stored once. */
export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly quantity: number;
  /** A decimal number in a string, so that no digit is lost. */
  readonly price: string;
  readonly placed_at: string;
}

const SCHEMA = new Schema([
  new Field("id", new Utf8(), false),
  new Field("customer", new Utf8(), false),
  new Field("quantity", new Int32(), false),
  new Field("price", new Utf8(), false, new Map([["filament.logical", "decimal"]])), // a bare number in the message
  new Field("placed_at", new TimestampMillisecond("UTC"), false),
]);

/**
 * The rules of a row. If a row breaks one, the whole request is refused, so every accepted row can be published.
 */
const RULES: Readonly<Record<keyof Order, readonly [rule: string, holds: (value: unknown) => boolean]>> = {
  id: ["a non-empty string", (value) => typeof value === "string" && value !== "" && value.isWellFormed()],
  customer: ["a string", (value) => typeof value === "string"],
  quantity: ["a whole number of 32 bits", (value) => typeof value === "number" && (value | 0) === value],
  price: [
    "a decimal number in a string",
    (value) => typeof value === "string" && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value),
  ],
  placed_at: ["a date and time", (value) => typeof value === "string" && !Number.isNaN(Date.parse(value))],
};

/** Checks a request's rows. Throws a RangeError that names the row, the field and the rule. */
export function parseOrders(body: unknown): Order[] {
  if (!Array.isArray(body)) throw new RangeError("the body must be an array of orders");
  return body.map((row, index) => {
    for (const [field, [rule, holds]] of Object.entries(RULES)) {
      if (!holds(row?.[field])) throw new RangeError(`order ${index}: ${field} must be ${rule}`);
    }
    const { id, customer, quantity, price, placed_at } = row as Order;
    return { id, customer, quantity, price, placed_at };
  });
}

/** The orders as a table, one typed column per field. */
export function orderTable(orders: readonly Order[]): Table {
  // An epoch whose only line is incomplete has no orders, and vectors without values have no type.
  if (orders.length === 0) return new Table(SCHEMA);
  return new Table(SCHEMA, {
    id: vectorFromArray(orders.map(({ id }) => id), new Utf8()),
    customer: vectorFromArray(orders.map(({ customer }) => customer), new Utf8()),
    quantity: vectorFromArray(orders.map(({ quantity }) => quantity), new Int32()),
    price: vectorFromArray(orders.map(({ price }) => price), new Utf8()),
    placed_at: vectorFromArray(orders.map((order) => Date.parse(order.placed_at)), new TimestampMillisecond("UTC")),
  });
}
