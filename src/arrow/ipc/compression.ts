/**
 * Decompresses buffers into memory of a size known in advance.
 *
 * @module
 */

import { damaged, IpcFault } from "./fault.ts";
import { decompressLz4 } from "./lz4.ts";
import type { Codec } from "./message.ts";
import { boundedFrame } from "./zstd_frame.ts";

/**
 * Decompresses a buffer that announces `length` bytes, and returns the first `needed` of them. Throws if the data does
 * not hold as many.
 */
export type Inflate = (data: Uint8Array, length: number, needed: number) => Uint8Array;

/** A ZSTD decoder of the runtime, which is faster than the portable one. */
export type NativeZstd = (data: Uint8Array, maxLength: number) => Uint8Array;

/** The package that decompresses ZSTD if the runtime does not. */
type Fzstd = Pick<typeof import("fzstd"), "Decompress">;

/** Loads the decoder of a codec. Throws a fault if it needs a package that is missing. */
export async function loadCodec(
  codec: Codec,
  native?: NativeZstd,
  load: () => Promise<Fzstd> = () => import("fzstd"),
): Promise<Inflate> {
  if (codec === "lz4") return decompressLz4;
  if (native !== undefined) return nativeZstd(native);
  const fzstd = await load().catch((cause) => {
    const problem = "the data is compressed with ZSTD, and the package fzstd is missing. Run: npm install fzstd";
    throw new IpcFault(problem, "encode.type", { cause });
  });
  return portableZstd(fzstd);
}

/** How many bytes more than needed a native decoder, which cannot stop early, may decompress at most. */
const LARGEST_EXCESS = 1 << 26;

function nativeZstd(decompress: NativeZstd): Inflate {
  return (data, length, needed) => {
    if (length - needed > LARGEST_EXCESS) {
      damaged(`a ZSTD frame announces ${length} bytes and its column needs ${needed}`);
    }
    const bytes = guarded(() => decompress(data, length));
    if (bytes.length !== length) damaged(`a ZSTD frame holds ${bytes.length} bytes and announces ${length}`);
    return bytes.subarray(0, needed);
  };
}

function portableZstd({ Decompress }: Fzstd): Inflate {
  return (data, length, needed) => {
    const frame = boundedFrame(data, length, needed);
    const bytes = new Uint8Array(needed);
    let filled = 0;
    const decoder = new Decompress((chunk) => {
      if (filled + chunk.length > length) damaged(`a ZSTD frame holds more than the ${length} bytes that it announces`);
      bytes.set(chunk.subarray(0, Math.max(0, needed - filled)), Math.min(filled, needed));
      filled += chunk.length;
      if (filled >= needed && needed < length) throw ENOUGH;
    });
    try {
      guarded(() => decoder.push(frame, true));
    } catch (thrown) {
      if (thrown !== ENOUGH) throw thrown;
      return bytes;
    }
    if (filled !== length) damaged(`a ZSTD frame holds ${filled} bytes and announces ${length}`);
    return bytes;
  };
}

/** Thrown when all needed bytes are decompressed. */
const ENOUGH = Symbol("enough");

/** Turns an error of a decoder into a fault. */
function guarded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    if (thrown === ENOUGH || thrown instanceof IpcFault) throw thrown;
    throw new IpcFault(
      `a ZSTD frame cannot be decompressed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  }
}
