/** The version of a program on the PATH. */

import { spawn } from "node:child_process";

/** A program's version; undefined if it is not on the PATH. */
export function versionOf(program: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, ["--version"], { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout?.on("data", (chunk) => text += chunk);
    child.once("error", () => resolve(undefined));
    child.once("close", () => resolve(/\d+\.\d+\.\d+/.exec(text)?.[0]));
  });
}
