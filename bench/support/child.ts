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
    return (await Child.spawn([process.execPath, ...run, ...args])).child;
  }

  /** Starts a program, and waits until it says that it is ready, and what else there is to say. */
  static async spawn(
    [program, ...args]: readonly string[],
  ): Promise<{ readonly child: Child; readonly ready: string }> {
    const child = new Child(spawn(program!, args, { stdio: ["pipe", "pipe", "inherit"] }));
    return { child, ready: await child.#answer() };
  }

  /** Does it once. */
  async run(): Promise<Sample> {
    return JSON.parse(await this.ask("run"));
  }

  /** Sends a line, and waits for the one that answers it. */
  ask(line: string): Promise<string> {
    this.#process.stdin!.write(`${line}\n`);
    return this.#answer();
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

/** The other side: says that it is ready, and answers each line with a value as JSON until there are no more. */
export async function serve(answer: (line: string) => Promise<unknown>, ready = "ready"): Promise<void> {
  process.stdout.write(`${ready}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
  }
}
