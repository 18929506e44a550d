/**
 * Decompression of IPC buffers, loaded when a message needs it. pandas and pyarrow compress by LZ4 unless told not to.
 *
 * @module
 */

import type { Compression } from "./ipc_message.ts";
import { arrowLibrary, library } from "./libraries.ts";
import { decompressLz4 } from "./lz4.ts";

type Decode = (data: Uint8Array) => Uint8Array;

const loaded = new Map<Compression, Promise<void>>();

/**
 * Makes apache-arrow able to decompress; loads the codec the first time.
 *
 * @param compression which
 * @throws {InputError} when the codec's package is missing
 * @example
 * ```ts ignore
 * await loadCodec("zstd");
 * ```
 */
export function loadCodec(compression: Compression): Promise<void> {
  const loading = loaded.get(compression) ?? register(compression);
  loaded.set(compression, loading);
  return loading;
}

async function register(compression: Compression): Promise<void> {
  const { compressionRegistry, CompressionType } = await arrowLibrary();
  const decode = compression === "lz4" ? decompressLz4 : await zstd();
  const type = compression === "lz4" ? CompressionType.LZ4_FRAME : CompressionType.ZSTD;
  // A fresh array: apache-arrow lays 64-bit views on it, which a slice at an odd offset cannot bear.
  compressionRegistry.set(type, { decode: (data: Uint8Array) => Uint8Array.from(decode(data)) });
}

async function zstd(): Promise<Decode> {
  const zlib = await import("node:zlib") as { readonly zstdDecompressSync?: (data: Uint8Array) => Uint8Array };
  if (zlib.zstdDecompressSync) return zlib.zstdDecompressSync;
  const { decompress } = await library("fzstd", "ZSTD-compressed Arrow data", () => import("fzstd"));
  return (data) => decompress(data);
}
