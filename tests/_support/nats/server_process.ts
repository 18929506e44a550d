/**
 * A nats-server's consecutive processes on the same folder and ports.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { GuardedFolder, type Signal } from "./guarded_process.ts";
import { ask, askJson, type Varz } from "./monitor.ts";
import { type ClusterConfig, type ServerConfig, type ServerPorts, storeFolder, writeConfig } from "./config.ts";
import { keepLog, keepsAllLogs, logTail } from "./server_log.ts";
import { GiveUp, until } from "../wait.ts";

/** Options of a restart. */
export interface RestartOptions {
  /** Changes of its configuration; ports and store stay the same. */
  readonly config?: ServerConfig;
  /**
   * `listening`: it answers. `ready`: JetStream has loaded its streams, and a cluster has a leader. @default {"ready"}
   */
  readonly wait?: "listening" | "ready";
}

/** A running nats-server. */
export interface NatsServer extends AsyncDisposable {
  /** `nats://127.0.0.1:<port>`, or `tls://` if it has certificates. */
  readonly url: string;
  /** `ws://127.0.0.1:<port>`, or `wss://`; without a listener unless it was started with `websocket`. */
  readonly wsUrl: string;
  /** The monitoring endpoint, `http://127.0.0.1:<port>`. */
  readonly monitorUrl: string;
  /** The server's name. */
  readonly name: string;
  /** The server's version, such as `2.15.2`. */
  readonly version: string;
  /** Where JetStream keeps its streams. */
  readonly storeDir: string;
  /** The folder that holds store, configuration and log. */
  readonly folder: string;
  /** The path of the log. */
  readonly logPath: string;
  /** The process id; the last one's if it does not run. */
  readonly pid: number;
  /** Whether the process runs. */
  running(): boolean;
  /** The whole log, of all starts. */
  log(): string;
  /** Kills it (SIGKILL), as a crash would. */
  kill(): Promise<void>;
  /** Stops it (SIGTERM). */
  stop(): Promise<void>;
  /** Starts it again on its store and its ports; a running process is stopped first. */
  restart(options?: RestartOptions): Promise<void>;
  /** Changes its configuration while it runs (SIGHUP); throws if the server refuses it. */
  reload(config: ServerConfig): Promise<void>;
  /** Puts it into lame duck mode (SIGUSR2), in which it disconnects its clients and stops; does not wait. */
  lameDuck(): void;
  /** Suspends it (SIGSTOP): connections stay open, and it answers nothing. */
  pause(): Promise<void>;
  /** Continues a suspended process (SIGCONT). */
  resume(): void;
  /** Waits until it has loaded its streams and, in a cluster, has a leader. */
  ready(): Promise<void>;
}

/** The parts of a server process. */
export interface ServerProcessOptions {
  /** The program. */
  readonly binary: string;
  /** The server's name. */
  readonly name: string;
  /** Its ports. */
  readonly ports: ServerPorts;
  /** Its cluster, if it has one. */
  readonly cluster?: ClusterConfig;
  /** Its configuration. */
  readonly config: ServerConfig;
}

/** Another process has bound a port meanwhile. */
export class PortTaken extends Error {
  override name = "PortTaken";
}

/** How long a stop may take before the process is killed. */
const STOP_WITHIN = 20_000;

/** A nats-server that can be started, ended and started again. */
export class ServerProcess implements NatsServer {
  readonly name: string;
  readonly #folder = new GuardedFolder("jetrow-nats-");
  readonly #options: ServerProcessOptions;
  #config: ServerConfig;
  #version = "";
  #wanted = false;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.#config = options.config;
    this.name = options.name;
  }

  get url(): string {
    return `${this.#config.tls ? "tls" : "nats"}://127.0.0.1:${this.#options.ports.client}`;
  }

  get wsUrl(): string {
    return `${this.#config.tls ? "wss" : "ws"}://127.0.0.1:${this.#options.ports.websocket}`;
  }

  get monitorUrl(): string {
    return `http://127.0.0.1:${this.#options.ports.monitor}`;
  }

  get version(): string {
    return this.#version;
  }

  get folder(): string {
    return this.#folder.path;
  }

  get storeDir(): string {
    return storeFolder(this.folder);
  }

  get logPath(): string {
    return join(this.folder, "server.log");
  }

  get pid(): number {
    return this.#folder.pid;
  }

  running(): boolean {
    return this.#folder.running;
  }

  log(): string {
    return existsSync(this.logPath) ? readFileSync(this.logPath, "utf8") : "";
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  lameDuck(): void {
    this.#wanted = false;
    this.#folder.signal("SIGUSR2");
  }

  async pause(): Promise<void> {
    this.#folder.signal("SIGSTOP");
    await until(`${this.name} to stop`, () => isStopped(this.pid), { every: 1 });
  }

  resume(): void {
    this.#folder.signal("SIGCONT");
  }

  async restart(options: RestartOptions = {}): Promise<void> {
    await this.stop();
    this.#config = { ...this.#config, ...options.config };
    const path = this.#writeConfig();
    const said = this.log().length;
    await this.#folder.start([this.#options.binary, "-c", path], this.logPath);
    await this.#listening(said);
    if (options.wait !== "listening") await this.ready();
    this.#wanted = true;
  }

  async reload(config: ServerConfig): Promise<void> {
    const reloads = () => this.log().match(/Reloaded server configuration|Failed to reload.*/g) ?? [];
    const before = reloads().length;
    this.#config = { ...this.#config, ...config };
    this.#writeConfig();
    this.#folder.signal("SIGHUP");
    const word = await until(`${this.name} to reload`, () => reloads().at(before));
    if (word.startsWith("Failed")) throw new Error(`${this.name}: ${word}`);
  }

  async ready(): Promise<void> {
    await this.#until("JetStream", async () => (await ask(`${this.monitorUrl}/healthz`)).status === 200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#wanted && !this.running()) this.#tellEarlyEnd();
    await this.#end("SIGKILL");
    if (keepsAllLogs() && !this.#folder.removed) keepLog(this.logPath, this.name);
    await this.#folder.remove();
  }

  #writeConfig(): string {
    return writeConfig({ ...this.#options, folder: this.folder }, this.#config);
  }

  async #end(signal: Signal): Promise<void> {
    this.#wanted = false;
    if (!this.running()) return;
    this.#folder.signal(signal);
    // A suspended process acts on no signal but SIGKILL until it continues.
    this.#folder.signal("SIGCONT");
    const timer = setTimeout(() => this.#folder.signal("SIGKILL"), STOP_WITHIN);
    await this.#folder.ended();
    clearTimeout(timer);
  }

  /** Reads its own log: on a port that another server was faster to bind, that server would answer. */
  async #listening(said: number): Promise<void> {
    await this.#until("an answer", async () => {
      if (!this.log().includes("Server is ready", said)) return false;
      this.#version = (await askJson<Varz>(`${this.monitorUrl}/varz`)).version;
      return true;
    });
  }

  async #until(what: string, question: () => Promise<boolean>): Promise<void> {
    try {
      await until(`${what} from ${this.name}`, () => {
        if (!this.running()) throw new GiveUp(`${this.name} ended: ${JSON.stringify(this.#folder.exit)}`);
        return question();
      });
    } catch (error) {
      const tail = logTail(this.logPath);
      if (tail.includes("address already in use")) throw new PortTaken(tail, { cause: error });
      const kept = keepLog(this.logPath, this.name);
      throw new Error(`${(error as Error).message}\nlog: ${kept}\n${tail}`, { cause: error });
    }
  }

  #tellEarlyEnd(): void {
    const kept = keepLog(this.logPath, this.name);
    const how = JSON.stringify(this.#folder.exit);
    process.stderr.write(`${this.name} had ended by itself: ${how}; log: ${kept}\n${logTail(this.logPath)}\n`);
  }
}

/** Whether all threads have stopped: they act on the signal one after another, and may answer until then. */
function isStopped(pid: number): boolean {
  if (process.platform !== "linux") return /^T/.test(execFileSync("ps", ["-o", "stat=", "-p", String(pid)]).toString());
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.every((thread) => /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")));
}
