/**
 * A Node stream pipeline: records, one JSON object per line, become Arrow batches and then acknowledged messages.
 *
 *     cat readings.ndjson | node node_pipeline.ts [nats://localhost:4222]
 *
 * Node has `await using` and TypeScript from version 24 on; for older versions a bundler can compile it: `esbuild
 * --target=node22`.
 *
 * Nothing is read faster than the server acknowledges it: each step requests more when it has passed its data on.
 */

import { batchesOf, connect, isJetrowError, openRun, type SinkConfig } from "@jetrow/jetrow/node";
import { Float64, Table, TimestampMillisecond, Utf8, vectorFromArray } from "apache-arrow";
import process from "node:process";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

interface Reading {
  readonly id: string;
  readonly sensor: string;
  readonly value: number | null;
  readonly at: string;
}

const config = {
  url: process.argv[2] ?? "nats://localhost:4222",
  stream: "READINGS",
  subject: "readings.{resource}",
  eventIdColumn: "id",
} satisfies SinkConfig;

/** Converts text to records, one per line. */
async function* parse(source: AsyncIterable<string>): AsyncGenerator<Reading> {
  let [number, rest] = [0, ""];
  for await (const text of source) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield* readingOf(line, ++number);
  }
  yield* readingOf(rest, ++number);
}

function* readingOf(line: string, number: number): Generator<Reading> {
  if (line.trim() === "") return;
  try {
    const { id, sensor, value = null, at } = JSON.parse(line);
    if (typeof id !== "string" || typeof sensor !== "string") throw new TypeError("id and sensor must be strings");
    if (value !== null && typeof value !== "number") throw new TypeError("value must be a number or null");
    if (Number.isNaN(Date.parse(at))) throw new TypeError("at must be a date and time");
    yield { id, sensor, value, at };
  } catch (error) {
    throw new Error(`line ${number}: ${(error as Error).message}`);
  }
}

/** Converts records to tables of `size` rows. */
function batch(size: number): Transform {
  const kept: Reading[] = [];
  const table = () => readingTable(kept.splice(0));
  return new Transform({
    writableObjectMode: true,
    readableObjectMode: true,
    readableHighWaterMark: 1, // at most one table ahead
    transform(record: Reading, _encoding, done) {
      kept.push(record);
      done(null, kept.length < size ? undefined : table());
    },
    flush: (done) => done(null, kept.length === 0 ? undefined : table()),
  });
}

function readingTable(readings: readonly Reading[]): Table {
  return new Table({
    id: vectorFromArray(readings.map(({ id }) => id), new Utf8()),
    sensor: vectorFromArray(readings.map(({ sensor }) => sensor), new Utf8()),
    value: vectorFromArray(readings.map(({ value }) => value), new Float64()),
    at: vectorFromArray(readings.map(({ at }) => Date.parse(at)), new TimestampMillisecond("UTC")),
  });
}

try {
  await using run = await openRun(() => connect(config), config);
  await pipeline(
    process.stdin.setEncoding("utf8"),
    parse,
    batch(4096),
    (tables) => run.applyAll(batchesOf("lab", tables)),
  );
  process.stdout.write(`${JSON.stringify(await run.commit())}\n`);
} catch (error) {
  // Rows of a failed run may be stored: run it again, and rows with ids are not stored twice.
  process.stderr.write(`${isJetrowError(error) ? `${error.code}: ${error.message}` : error}\n`);
  process.exitCode = 1;
}
