/**
 * The Go client's asynchronous publisher, if Go is installed.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Buffer } from "node:buffer";
import process from "node:process";
import type { Sample } from "./measure.ts";

/** The program's arguments. */
export interface GoJob {
  readonly url: string;
  readonly stream: string;
  readonly subject: string;
  readonly window: number;
}

/** The messages that it sends. */
export interface GoMessages {
  readonly bodies: readonly { readonly bytes: Uint8Array; readonly offsets: Uint32Array }[];
  /** 64 hex digits per message. */
  readonly ids?: Uint8Array | undefined;
}

/** The program's path; undefined, with the reason printed, if it cannot be built. */
export async function buildGoPeer(root: string, say: (text: string) => void): Promise<string | undefined> {
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  const program = join(cache, "natsgo");
  if (existsSync(program)) return program;
  try {
    await run("go", ["build", "-o", program, "."], { cwd: join(root, "bench/peers/natsgo") });
    return program;
  } catch (error) {
    say(`nats.go skipped: ${(error as Error).message.split("\n")[0]}`);
  }
}

/** Writes the messages of a job for the program to read; returns the file's path. */
export function writeJob(root: string, name: string, { bodies, ids }: GoMessages): string {
  const path = join(root, ".cache", `${name}.messages`);
  const parts: Uint8Array[] = [];
  const lengths = bodies.flatMap(({ offsets }) => [...offsets.subarray(1)].map((end, i) => end - offsets[i]!));
  parts.push(new Uint8Array(Uint32Array.of(lengths.length, ids === undefined ? 0 : 1).buffer));
  parts.push(new Uint8Array(Uint32Array.from(lengths).buffer));
  for (const { bytes } of bodies) parts.push(bytes);
  if (ids !== undefined) parts.push(ids);
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

/** Runs the program once; it measures its own time from the first publish to the last acknowledgment. */
export async function runGoPeer(program: string, job: GoJob, file: string): Promise<Sample> {
  const { url, stream, subject, window } = job;
  const out = await run(program, [url, stream, subject, String(window), file], {});
  const { count, seconds, cpu } = JSON.parse(out) as { count: number; seconds: number; cpu: number };
  return { count, seconds, clientCpu: cpu };
}

function run(program: string, args: readonly string[], options: { readonly cwd?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GOFLAGS: "-mod=mod" };
    execFile(program, [...args], { ...options, env }, (error, out, errors) => {
      if (error === null) resolve(out);
      else reject(new Error(`${program}: ${errors.trim() || error.message}`));
    });
  });
}
