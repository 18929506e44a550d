/**
 * A contender in its own process, where neither the heap nor the compiler's assumptions depend on other contenders. In
 * one process with the others, rows cost half as much CPU again.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Sample } from "./measure.ts";
import { runtimeName } from "./stage.ts";

/** A process that does one thing each time it is asked to. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  /** Starts this script again on this runtime, and waits until it is ready. */
  static async start(args: readonly string[]): Promise<Child> {
    const script = process.argv[1]!;
    const run = runtimeName() === "deno" ? ["run", "-A", "--no-lock", script] : [script];
    return (await Child.spawn([process.execPath, ...run, ...args])).child;
  }

  /** Starts a program, and waits until it reports that it is ready, with any further data. */
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

  /** Sends a line, and waits for the answer. */
  ask(line: string): Promise<string> {
    this.#process.stdin!.write(`${line}\n`);
    return this.#answer();
  }

  /** Ends the process. */
  end(): void {
    this.#process.stdin!.end();
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("a contender's process has ended");
    return value;
  }
}

/** The child's side: reports that it is ready, and answers each line with a value as JSON until the input ends. */
export async function serve(answer: (line: string) => Promise<unknown>, ready = "ready"): Promise<void> {
  process.stdout.write(`${ready}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
  }
}
