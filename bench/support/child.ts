/**
 * A contender in a process of its own: what others leave on the heap, and how they make the compiler guess, costs it
 * nothing. In one process with the others, rows cost half as much CPU again.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Sample } from "./measure.ts";
import { runtimeName } from "./stage.ts";

/** A process that does one thing each time it is told to. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  /** Starts this script once more on this runtime, and waits until it is ready. */
  static async start(args: readonly string[]): Promise<Child> {
    const script = process.argv[1]!;
    const run = runtimeName() === "deno" ? ["run", "-A", "--no-lock", script] : [script];
    const child = new Child(spawn(process.execPath, [...run, ...args], { stdio: ["pipe", "pipe", "inherit"] }));
    await child.#answer();
    return child;
  }

  /** Does it once. */
  async run(): Promise<Sample> {
    this.#process.stdin!.write("run\n");
    return JSON.parse(await this.#answer());
  }

  /** Sends it away. */
  end(): void {
    this.#process.stdin!.end();
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("a contender's process has ended");
    return value;
  }
}

/** The other side: says that it is ready, and answers each line with a sample until there are no more. */
export async function serve(run: () => Promise<Sample>): Promise<void> {
  process.stdout.write("ready\n");
  for await (const _ of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await run())}\n`);
  }
}
