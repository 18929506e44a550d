/**
 * The window: a slot reserved and released for each message.
 *
 * @module
 */

import { Window } from "../src/publish/lanes/window.ts";
import { type Bench, compare, timed } from "./support/measure.ts";

const MESSAGES = 100_000;

/** Runs the suite. */
export async function windows(bench: Bench): Promise<void> {
  for (const places of [1, 1024, 65_536]) {
    await compare(bench, { suite: "window", case: `${places} outstanding`, unit: "messages" }, [
      { name: "jetrow", run: () => timed(MESSAGES, () => byWindow(places)) },
      { name: "a map of objects", run: () => timed(MESSAGES, () => byMap(places)) },
    ]);
  }
}

const owner = {};

function byWindow(places: number): void {
  const window = new Window<object>(places, Infinity);
  const tokens = new Float64Array(places);
  for (let i = 0; i < MESSAGES + places; i++) {
    if (i >= places) window.take(tokens[i % places]!);
    if (i < MESSAGES) tokens[i % places] = window.reserve(owner, i, 400, i);
  }
}

function byMap(places: number): void {
  const window = new Map<number, { owner: object; row: number; bytes: number; deadline: number }>();
  let bytes = 0;
  for (let i = 0; i < MESSAGES + places; i++) {
    const message = window.get(i - places);
    if (message !== undefined && window.delete(i - places)) bytes -= message.bytes;
    if (i >= MESSAGES) continue;
    window.set(i, { owner, row: i, bytes: 400, deadline: i });
    bytes += 400;
  }
  if (bytes !== 0) throw new Error(`${bytes} bytes are left`);
}
