/** Programs that tests start, read and kill. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { until } from "../_support/wait.ts";

/** A running program, which is ended at the end of its block. */
export interface Program extends AsyncDisposable {
  /** The process. */
  readonly child: ChildProcess;
  /** All lines that it has written so far, of both outputs. */
  readonly lines: readonly string[];
  /** Waits for a line, and returns the first match. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends it a signal, and waits for its end; returns the exit code or signal. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
}

/** Options of a program. */
export interface StartOptions {
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it ends when its standard input ends, since it has child processes to end. */
  readonly endsWithInput?: boolean;
}

/** Starts a program. */
export function start(command: readonly string[], { env = {}, endsWithInput = false }: StartOptions = {}): Program {
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) createInterface(output).on("line", (line) => lines.push(line));
  const exited = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  const running = () => child.exitCode === null && child.signalCode === null;
  const end: Program["end"] = (signal) => {
    // Not by `child.kill`, after which Deno reports the signal also for a process that exited by itself.
    if (signal !== undefined && running()) process.kill(child.pid!, signal);
    return exited;
  };
  return {
    child,
    lines,
    end,
    line: (pattern) =>
      until(`${pattern} in ${lines.join(" | ")}`, () => {
        return lines.map((line) => pattern.exec(line)).find((match) => match !== null);
      }),
    [Symbol.asyncDispose]: async () => {
      if (endsWithInput) child.stdin.end();
      await end(endsWithInput ? undefined : "SIGKILL");
    },
  };
}
