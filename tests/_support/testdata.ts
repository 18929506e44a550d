/**
 * The files below tests/_testdata: vectors, generated Arrow files with their expected bytes, and Arrow C++'s
 * integration files with their values as JSON.
 */

const ROOT = new URL("../_testdata/", import.meta.url);
const GOLDEN = "arrow-testing/cpp-21.0.0/";

/** The bytes of a file below tests/_testdata. */
export function readBytes(path: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(new URL(path, ROOT));
}

/** A file below tests/_testdata as a string. */
export function readText(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** The vectors of one name: `durations`, `message_ids`, `subjects` or `values`. */
export function readVectors<T>(name: string): T {
  return JSON.parse(readText(`vectors/${name}.json`));
}

/** The names of the files in a folder below tests/_testdata, sorted. */
export function listFiles(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].map((entry) => entry.name).sort();
}

/** A generated file: an Arrow stream, and the JSON of its rows if they are valid. */
export interface FuzzCase {
  readonly name: string;
  /** Its special features, for messages. */
  readonly about: string;
  readonly ipc: Uint8Array<ArrayBuffer>;
  /** One body per row; absent: the rows must be refused. */
  readonly lines?: readonly Uint8Array[];
}

/** All generated files. */
export function fuzzCases(): FuzzCase[] {
  return fuzzCasesIn(new URL("fuzz/", ROOT));
}

/** The generated files of any folder. */
export function fuzzCasesIn(folder: URL): FuzzCase[] {
  const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
  return names.filter((name) => name.endsWith(".arrow")).map((file) => {
    const name = file.slice(0, -".arrow".length);
    const common = {
      name,
      about: Deno.readTextFileSync(new URL(`${name}.txt`, folder)),
      ipc: Deno.readFileSync(new URL(file, folder)),
    };
    if (!names.includes(`${name}.ndjson`)) return common;
    return { ...common, lines: splitLines(Deno.readFileSync(new URL(`${name}.ndjson`, folder))) };
  });
}

/** The lines of a file as bytes, each without its line feed. */
export function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** One of Arrow C++'s integration files. */
export interface GoldenCase {
  readonly name: string;
  /** File names of the same rows in IPC: `.stream`, and for some `.arrow_file`. */
  readonly files: readonly string[];
}

/** All integration files. */
export function goldenCases(): GoldenCase[] {
  const names = listFiles(GOLDEN);
  return names.filter((name) => name.endsWith(".json.gz")).map((json) => {
    const name = json.slice(0, -".json.gz".length);
    return { name, files: [`${name}.stream`, `${name}.arrow_file`].filter((file) => names.includes(file)) };
  });
}

/** The bytes of one integration file. */
export function readGolden(file: string): Uint8Array<ArrayBuffer> {
  return readBytes(GOLDEN + file);
}

/** The values of an integration file, as a JSON string. */
export async function readGoldenJson(name: string): Promise<string> {
  const packed = new Blob([readGolden(`${name}.json.gz`)]).stream();
  return await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
}
