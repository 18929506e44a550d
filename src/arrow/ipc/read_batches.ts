/**
 * Reads record batches from the messages of Arrow IPC data.
 *
 * @module
 */

import type { ArrowBatch } from "../../types/mod.ts";
import { appendValues } from "./append_values.ts";
import { type IpcData, readColumns } from "./columns.ts";
import { type Inflate, loadCodec, type NativeZstd } from "./compression.ts";
import { damaged, IpcFault } from "./fault.ts";
import type { Message } from "./frames.ts";
import type { ArrowInput } from "./input.ts";
import type { BatchHead, Codec } from "./message.ts";
import type { IpcSchema } from "./schema.ts";

/** A record batch in the form that the encoder takes. */
export interface IpcBatch extends ArrowBatch {
  readonly schema: IpcSchema;
}

/** Options of reading. */
export interface ReadBatchesOptions {
  /** A ZSTD decoder of the runtime. */
  readonly zstd?: NativeZstd | undefined;
  /** Called with the schema. */
  readonly onSchema?: (schema: IpcSchema) => void;
}

/** Reads the batches of an input. Holds one batch and the dictionaries in memory. */
export async function* readBatches(
  { messages, replaces }: ArrowInput,
  options: ReadBatchesOptions = {},
): AsyncGenerator<IpcBatch, undefined> {
  let reader: BatchReader | undefined;
  for await (const message of messages) {
    if (message.kind === "schema") {
      reader = new BatchReader(message.schema, replaces, options);
      options.onSchema?.(message.schema);
    } else if (reader === undefined) {
      damaged("a message comes before the schema");
    } else if (message.kind === "dictionary") {
      await reader.addDictionary(message);
    } else {
      yield await reader.read(message);
    }
  }
  return undefined;
}

class BatchReader {
  readonly #schema: IpcSchema;
  readonly #replaces: boolean;
  readonly #options: ReadBatchesOptions;
  readonly #dictionaries = new Map<number, readonly IpcData[]>();
  readonly #codecs = new Map<Codec, Promise<Inflate>>();
  #batches = 0;

  constructor(schema: IpcSchema, replaces: boolean, options: ReadBatchesOptions) {
    this.#schema = schema;
    this.#replaces = replaces;
    this.#options = options;
  }

  async addDictionary({ id, isDelta, data, body }: Message & { readonly kind: "dictionary" }): Promise<void> {
    const type = this.#schema.dictionaries.get(id);
    if (type === undefined) return damaged(`no field has dictionary ${id}`);
    const known = this.#dictionaries.get(id);
    if (isDelta && known === undefined) damaged(`dictionary ${id} is extended before it is sent`);
    if (!isDelta && known !== undefined && !this.#replaces) {
      damaged(`dictionary ${id} is replaced, which the file format does not allow. Write a stream, or one dictionary`);
    }
    const fields = [{ name: `dictionary ${id}`, type }];
    const values = readColumns(fields, data, body, this.#dictionaries, await this.#codecOf(data));
    this.#dictionaries.set(id, isDelta ? appendValues(known!, values[0]!) : values);
  }

  async read({ data, body }: Message & { readonly kind: "batch" }): Promise<IpcBatch> {
    const index = this.#batches++;
    try {
      const inflate = await this.#codecOf(data);
      const children = readColumns(this.#schema.fields, data, body, this.#dictionaries, inflate);
      return { schema: this.#schema, numRows: data.rows, data: { length: data.rows, children } };
    } catch (error) {
      if (error instanceof IpcFault) error.batch = index;
      throw error;
    }
  }

  async #codecOf({ codec }: BatchHead): Promise<Inflate | undefined> {
    if (codec === undefined) return undefined;
    const loading = this.#codecs.get(codec) ?? loadCodec(codec, this.#options.zstd);
    this.#codecs.set(codec, loading);
    return await loading;
  }
}

/** Sums the rows that the batches of messages announce. */
export async function countRows({ messages }: ArrowInput): Promise<number> {
  let rows = 0;
  for await (const message of messages) if (message.kind === "batch") rows += message.data.rows;
  return rows;
}
