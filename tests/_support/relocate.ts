/**
 * Copies of Arrow structures, of either library, whose buffers are surrounded by other bytes: a read outside of a
 * buffer changes what is written.
 */

/** The number of bytes before and after each buffer. */
const MARGIN = 4096;

/** Changes a buffer: `bytes` are its own bytes, writable; `cutTo` shortens the view that replaces it. */
export type Change = (bytes: Uint8Array, index: number) => { readonly cutTo?: number };

/** Changes a node's number of rows. */
export type LengthChange = (length: number, index: number) => number;

type Loose = Record<string, unknown>;

/** Counts buffers and nodes, so that a change can select one by index. */
interface Walk {
  readonly margin: number;
  readonly change: Change;
  readonly changeLength: LengthChange;
  buffers: number;
  nodes: number;
}

/** A copy of rows in which each buffer is surrounded by bytes of value `margin`. */
export function relocate<T>(rows: T, margin: number, change: Change, changeLength: LengthChange): T {
  const walk: Walk = { margin, change, changeLength, buffers: 0, nodes: 0 };
  const copy = shallow(rows as Loose);
  for (const key of ["batches", "data", "children"]) if (copy[key] !== undefined) copy[key] = node(copy[key], walk);
  return copy as T;
}

/** The number of buffers and nodes. */
export function measure(rows: object): { readonly buffers: number; readonly nodes: number; readonly sizes: number[] } {
  const sizes: number[] = [];
  let nodes = 0;
  relocate(rows, 0, (bytes) => (sizes.push(bytes.length), {}), (length) => (nodes++, length));
  return { buffers: sizes.length, nodes, sizes };
}

function shallow(value: Loose): Loose {
  const copy = Object.create(Object.getPrototypeOf(value));
  for (const key of Object.keys(value)) {
    Object.defineProperty(copy, key, { value: value[key], writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

/** Copies a node; types, schemas and memoized values stay the same objects. */
const KEPT = new Set(["type", "schema", "_schema", "_nullCount", "nullCount"]);

function node(value: unknown, walk: Walk): unknown {
  if (ArrayBuffer.isView(value)) return buffer(value, walk);
  if (Array.isArray(value)) return value.map((one) => node(one, walk));
  if (typeof value !== "object" || value === null || value instanceof Map) return value;
  const copy = shallow(value as Loose);
  for (const key of Object.keys(copy)) if (!KEPT.has(key) && key !== "length") copy[key] = node(copy[key], walk);
  if (isColumn(copy)) copy.length = walk.changeLength(copy.length as number, walk.nodes++);
  return copy;
}

/** Whether a value is apache-arrow's Data or flechette's Batch, not a vector or column made of them. */
function isColumn(value: Loose): boolean {
  return typeof value.length === "number" && Object.hasOwn(value, "type") && !Array.isArray(value.data) ||
    Object.hasOwn(value, "validity");
}

function buffer(view: ArrayBufferView, walk: Walk): ArrayBufferView {
  const own = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const around = new Uint8Array(MARGIN + Math.ceil(own.length / 64) * 64 + MARGIN).fill(walk.margin);
  around.set(own, MARGIN);
  const { cutTo = own.length } = walk.change(around.subarray(MARGIN, MARGIN + own.length), walk.buffers++);
  const ViewType = view.constructor as { new (buffer: ArrayBuffer, at: number, count: number): ArrayBufferView };
  const width = (view as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  return new ViewType(around.buffer, MARGIN, Math.floor(cutTo / width));
}
