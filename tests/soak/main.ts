/**
 * `deno task soak`: a million rows through `publishAll` while the server is killed and restarted at random.
 *
 * `deno task soak [seed] [rows] [ends]` repeats a run.
 *
 * @module
 */

import { soak } from "./_soak.ts";

const [seed = Math.floor(Math.random() * 2 ** 32), rows = 1_000_000, ends = 40] = Deno.args.map(Number);
// deno-lint-ignore no-console -- a program that prints
const say = (line: string): void => console.log(line);
const report = await soak({ rows, ends, seed, say });
const { total, batches, receipts, killed, stopped, connections, milliseconds } = report;
say(`${total.rows} rows of ${batches} batches in ${receipts} receipts, ${total.bytes} bytes: each row stored once`);
say(`the server was killed ${killed} times and stopped ${stopped} times, ${connections} connections were made`);
say(`${total.duplicates} rows were stored before they were acknowledged: their second copies were duplicates`);
say(`${(milliseconds / 1000).toFixed(1)} s, ${Math.round(rows / milliseconds)} rows a millisecond`);
