/** Runs of the command that keep a journal and are killed. */

import type { NatsConnection } from "@nats-io/nats-core";
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "../../src/runtime/deno.ts";
import {
  createStream,
  infoOf,
  type NatsServer,
  startNatsServer,
  startTcpProxy,
  type TcpProxy,
  type Way,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { Files, messagesOf, plainColumns } from "./_files.ts";
import { COMMAND, jetrow, ROOT, type RunOptions, type Said } from "./_io.ts";

// deno-lint-ignore no-explicit-any
export type Line = Record<string, any>;

const ROWS = 2000;

/** Columns with an id column. */
export function idColumns(rows: number): Record<string, string[] | Int32Array> {
  return { _filament_event_id: Array.from({ length: rows }, (_, i) => `event-${i}`), ...plainColumns(rows) };
}

/** A server, a stream, a file and a journal. */
export class Scene implements AsyncDisposable {
  readonly server: NatsServer;
  readonly proxy: TcpProxy;
  readonly files: Files;
  readonly rows: number;

  readonly #user: Line;
  readonly #subject: string;

  private constructor(server: NatsServer, user: Line, proxy: TcpProxy, files: Files, rows: number, subject: string) {
    this.server = server;
    this.#user = user;
    this.#subject = subject;
    this.proxy = proxy;
    this.files = files;
    this.rows = rows;
  }

  static async open(
    options: { ids?: boolean; rows?: number; stream?: Line; config?: string; user?: Line; subject?: string } = {},
  ): Promise<Scene> {
    const { ids = true, rows = ROWS, stream = {}, config, user = {}, subject = "orders.{resource}" } = options;
    const server = await startNatsServer(config === undefined ? {} : { config });
    const files = new Files(rows, ids ? idColumns : plainColumns);
    const scene = new Scene(server, user, await startTcpProxy(server.url), files, rows, subject);
    await scene.ask((nc) => createStream(nc, { name: "ORDERS", subjects: ["orders.>"], ...stream }));
    return scene;
  }

  /** Sends a request to the server over a new connection, since the server may have been restarted. */
  async ask<T>(question: (nc: NatsConnection) => Promise<T>): Promise<T> {
    const nc = await connect({ url: this.server.url, ...this.#user });
    try {
      return await question(nc);
    } finally {
      await nc.close();
    }
  }

  get input(): string {
    return this.files.path("orders.arrow");
  }

  get journal(): string {
    return this.files.path("orders.journal");
  }

  /** Arguments of a run: a hundred rows per piece, at most fifty in flight. */
  args(option: "--receipt" | "--resume", url = this.server.url): string[] {
    const where = ["--url", url, "--stream", "ORDERS", "--subject", this.#subject];
    return ["publish", this.input, ...where, "--batch-rows", "100", "--max-in-flight", "50", option, this.journal];
  }

  /** Runs the command to its end in this process. */
  publish(...more: string[]): Promise<Said> {
    return jetrow([...this.args("--receipt"), ...more]);
  }

  resume(more: readonly string[] = [], options: RunOptions = {}): Promise<Said> {
    return jetrow([...this.args("--resume"), ...more], options);
  }

  /** The journal's lines. */
  lines(): Line[] {
    if (!existsSync(this.journal)) return [];
    const lines = readFileSync(this.journal, "utf8").split("\n");
    return lines.slice(0, -1).map((text) => JSON.parse(text));
  }

  kinds(kind: string): Line[] {
    return this.lines().filter((line) => line.kind === kind);
  }

  text(): string {
    return readFileSync(this.journal, "utf8");
  }

  write(text: string): void {
    writeFileSync(this.journal, text);
  }

  async stored(): Promise<number> {
    return (await this.ask((nc) => infoOf(nc, "ORDERS"))).state.messages;
  }

  /** Runs the command as a process until some pieces are done, stalls one direction, and kills it with rows in flight. */
  async killMidway(
    way: Way,
    more: readonly string[] = [],
    option: "--receipt" | "--resume" = "--receipt",
    env: Record<string, string> = {},
  ): Promise<void> {
    const child = this.start(option, ["--publish-timeout", "1m", ...more], env);
    const before = this.kinds("receipt").length;
    await until("some receipts", () => this.kinds("receipt").length > before + 2, { every: 2 });
    this.proxy.stall(way);
    await until("a piece on its way", () => this.kinds("begin").length > this.kinds("receipt").length);
    if (way === "down") {
      const acked = () => this.kinds("receipt").reduce((sum, { rows }) => sum + rows, 0);
      await until("rows that are stored and unacknowledged", async () => await this.stored() > acked());
    }
    child.kill("SIGKILL");
    await ended(child);
    this.proxy.drop(way);
    this.proxy.cut();
    this.proxy.resume(way);
    assert.ok(this.kinds("begin").length > this.kinds("receipt").length, "rows were in flight");
  }

  /** Starts the command as a process, over a proxy that slows it down. */
  start(
    option: "--receipt" | "--resume",
    more: readonly string[] = [],
    env: Record<string, string> = {},
  ): ChildProcess {
    this.proxy.delay({ down: 5 });
    const [program, ...args] = [...COMMAND, ...this.args(option, this.proxy.url), ...more];
    return spawn(program!, args, {
      cwd: ROOT,
      env: { ...Deno.env.toObject(), ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  /** Asserts that every row is stored once, and that the journal's receipts say so. */
  async assertWhole(): Promise<void> {
    const ids: number[] = (await messagesOf(this.server, "ORDERS")).map((body) => JSON.parse(body).id);
    assert.equal(ids.length, this.rows, "each row is stored once");
    assert.deepEqual([...ids].sort((a, b) => a - b), Array.from({ length: this.rows }, (_, i) => i));
    const { exitCode, out, err } = await jetrow(["verify", this.journal, "--url", this.server.url]);
    assert.equal(exitCode, 0, err + out);
    assert.equal(out.trimEnd().split("\n").reduce((sum, line) => sum + JSON.parse(line).rows, 0), this.rows);
  }

  /** Asserts that resuming is refused with this message, and changes nothing. */
  async assertRefused(
    words: RegExp,
    more: readonly string[] = [],
    exitCode = 1,
    options: RunOptions = {},
  ): Promise<void> {
    const [stored, text] = [await this.stored(), this.text()];
    const said = await this.resume(more, options);
    assert.deepEqual([said.exitCode, said.out], [exitCode, ""], said.err);
    assert.match(said.err, words);
    assert.deepEqual([await this.stored(), this.text()], [stored, text], "nothing was sent or written");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.files[Symbol.dispose]();
    await this.proxy[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Waits for a process to end; returns its exit code and standard error. */
export async function ended(child: ChildProcess): Promise<{ code: number | null; err: string }> {
  let err = "";
  child.stderr!.on("data", (text) => err += text);
  const code = await new Promise<number | null>((resolve) => {
    // After kill() Deno's node:child_process reports the exit code 130 as the corresponding signal.
    child.on("close", (code, signal) => resolve(signal === "SIGINT" ? 130 : code));
  });
  return { code, err };
}

/** A scene whose journal is of a completed run of 500 rows in five pieces. */
export async function finished(options: Parameters<typeof Scene.open>[0] = {}): Promise<Scene> {
  const scene = await Scene.open({ rows: 500, ...options });
  const { exitCode, err } = await scene.publish();
  assert.equal(exitCode, 0, err);
  return scene;
}

/** The journal up to the last line of a kind, and the first part of that line. */
export function tornAt(text: string, kind: string, part: number): string {
  const at = text.lastIndexOf(`{"kind":"${kind}"`);
  const end = text.indexOf("\n", at);
  return text.slice(0, at + Math.ceil((end - at) * part));
}
