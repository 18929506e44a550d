/** Runs the command in this process with replaced inputs and outputs, and as a process of its own. */

import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type CliIo, main } from "../../src/cli/main.ts";
import { printMissing } from "../_support/missing_tool.ts";

/** The exit code and output of a run. */
export interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Options of a run of `main`. */
export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
  /** The width of the terminal to which standard output and standard error are connected. */
  readonly columns?: number;
}

/** Runs `main` in this process. */
export async function jetrow(args: readonly string[], options: RunOptions = {}): Promise<Said> {
  const output = { out: "", err: "" };
  const io: CliIo = {
    stdin: options.stdin ?? (async function* () {})(),
    stdout: {
      write: (text) => Promise.resolve(void (output.out += text)),
      ...(options.columns && { columns: options.columns }),
    },
    stderr: {
      write: (text) => Promise.resolve(void (output.err += text)),
      ...(options.columns && { columns: options.columns }),
    },
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
  };
  return { exitCode: await main(args, io), ...output };
}

/** The repository's folder. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** The command line that runs the command as a process of its own. */
export const COMMAND: readonly string[] = [Deno.execPath(), "run", "-A", "--no-lock", `${ROOT}/src/cli/main.ts`];

/** Runs the command in a pseudo-terminal, and types the given answer when the screen asks for it. */
const TERMINAL = `
import os, pty, re, sys
command, pattern = sys.argv[2:], sys.argv[1]
pid, fd = pty.fork()
if pid == 0: os.execvp(command[0], command)
screen, typed = b"", pattern == ""
while True:
    try: part = os.read(fd, 65536)
    except OSError: break
    if not part: break
    screen += part
    sys.stdout.buffer.write(part)
    if not typed and re.search(pattern.encode(), screen):
        typed = True
        os.write(fd, b"\\x03")
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/**
 * Runs the command in a pseudo-terminal, and returns what the screen received; undefined if that is not possible.
 * Types Ctrl-C when the screen matches `interruptAt`.
 */
export async function onTerminal(
  args: readonly string[],
  interruptAt = "",
): Promise<{ exitCode: number; screen: string } | undefined> {
  const python = spawnSync("python3", ["-c", "import pty"]);
  if (python.error || python.status !== 0) {
    printMissing("the command on a terminal", "python3 with pty is not installed");
    return undefined;
  }
  const child = spawn("python3", ["-c", TERMINAL, interruptAt, ...COMMAND, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let screen = "";
  child.stdout.on("data", (text) => screen += text);
  const exitCode = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  return { exitCode, screen };
}

/** Runs a shell command without input. */
export function shell(command: string, env: Record<string, string> = {}): Promise<Said> {
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: ROOT,
    env: { ...Deno.env.toObject(), JETROW: COMMAND.join(" "), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (text) => output.out += text);
  child.stderr.on("data", (text) => output.err += text);
  return new Promise((resolve) => child.on("close", (code) => resolve({ exitCode: code ?? -1, ...output })));
}
