/**
 * A folder and the processes that work in it, which cannot outlive the process that created them.
 *
 * A shell, the guard, reads a pipe whose other end only this process holds. When the pipe ends without a command (this
 * process has exited, crashed or been killed with SIGKILL), the guard kills the child and removes the folder. No signal
 * handler is needed, and none can be forgotten.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const GUARD = `
trap '' INT TERM HUP
folder=$1 pid=
while read -r word; do
  case $word in release) exit 0 ;; exited) pid= ;; *) pid=$word ;; esac
done
if [ "$pid" ]; then
  kill -9 "$pid"
  tries=0
  while kill -0 "$pid" && [ $tries -lt 40 ]; do sleep 0.05; tries=$((tries + 1)); done
fi
rm -rf -- "$folder"
`;

/** Waits until the guard has confirmed the pid; if this process ends before, the program is never started. */
const START = `read -r word || exit 1; log=$1; shift; exec "$@" </dev/null >>"$log" 2>&1`;

/** The signals that tests send. */
export type Signal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How a process ended. */
export interface Exit {
  /** The exit code; `null` if a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it; `null` if it exited by itself. */
  readonly signal: string | null;
}

/** A folder, and at most one process at a time. */
export class GuardedFolder {
  /** The folder. */
  readonly path: string;
  readonly #guard: ChildProcess;
  #child: ChildProcess | undefined;
  #exit: Exit | undefined;
  #removed = false;
  #ended: Promise<void> = Promise.resolve();

  /** Creates a temporary folder whose name begins with `prefix`. */
  constructor(prefix: string) {
    this.path = mkdtempSync(join(tmpdir(), prefix));
    // A session of its own: Ctrl-C at the terminal reaches this process only, and the guard does the rest.
    this.#guard = spawn("/bin/sh", ["-c", GUARD, "guard", this.path], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    letGo(this.#guard);
  }

  /** The process id; the last process's if none runs, 0 before the first. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** How the last process ended; `undefined` while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Whether a process runs. */
  get running(): boolean {
    return this.#child !== undefined && this.#exit === undefined;
  }

  /** Whether the folder was removed. */
  get removed(): boolean {
    return this.#removed;
  }

  /** Starts a program, its output appended to `log`. */
  async start(command: readonly string[], log: string): Promise<void> {
    if (this.running) throw new Error(`process ${this.pid} runs already`);
    const child = spawn("/bin/sh", ["-c", START, "start", log, ...command], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#child = child;
    this.#exit = undefined;
    this.#ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#exit = { code, signal };
        tell(this.#guard, "exited");
        resolve();
      });
    });
    letGo(child);
    await tell(this.#guard, String(child.pid));
    await tell(child, "start");
    child.stdin?.end();
  }

  /** Sends the process a signal; does nothing if none runs. */
  signal(name: Signal): void {
    if (this.running) process.kill(this.pid, name);
  }

  /** Waits until the process has ended. */
  async ended(): Promise<void> {
    if (this.running) this.#child?.ref();
    await this.#ended;
  }

  /** Removes the folder, once no process runs, and ends the guard. */
  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    rmSync(this.path, { recursive: true, force: true });
    const gone = new Promise((resolve) => this.#guard.once("exit", resolve));
    this.#guard.ref();
    tell(this.#guard, "release");
    await gone;
  }
}

/** Lets this process exit while the child runs; the guard then ends the child. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.stdin?.on("error", () => {});
}

function tell(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve) => child.stdin?.write(`${word}\n`, () => resolve()));
}
