/**
 * Copies of Arrow structures, of either library, whose buffers lie amid bytes that are not theirs: what is read outside
 * of a buffer comes out in what is written.
 */

/** Bytes before and behind each buffer. */
const MARGIN = 4096;

/** What becomes of a buffer: its own bytes, writable, and the view that is put in its place. */
export type Change = (bytes: Uint8Array, index: number) => { readonly cutTo?: number };

/** What becomes of a node's number of rows. */
export type LengthChange = (length: number, index: number) => number;

type Loose = Record<string, unknown>;

/** Counts what was met, so that a change can name the one that it means. */
interface Walk {
  readonly margin: number;
  readonly change: Change;
  readonly changeLength: LengthChange;
  buffers: number;
  nodes: number;
}

/** A copy of some rows, each buffer amid bytes of value `margin`. */
export function relocate<T>(rows: T, margin: number, change: Change, changeLength: LengthChange): T {
  const walk: Walk = { margin, change, changeLength, buffers: 0, nodes: 0 };
  const copy = shallow(rows as Loose);
  for (const key of ["batches", "data", "children"]) if (copy[key] !== undefined) copy[key] = node(copy[key], walk);
  return copy as T;
}

/** How many buffers and nodes there are. */
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

/** Types, schemas and memoized values stay as they are. */
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

/** apache-arrow's Data and flechette's Batch, but not the vectors and columns made of them. */
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
