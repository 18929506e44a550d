/**
 * `jetrow publish`: files in, receipts out.
 *
 * @module
 */

import { batchesOf } from "../lifecycle/batches.ts";
import { type BoundedRun, openRun } from "../lifecycle/run.ts";
import type { RunReceipt, WriteReceipt } from "../types.ts";
import { unlessAborted } from "./connecting.ts";
import { dryRun } from "./dry_run.ts";
import { openPath, openPipe, type OpenSource } from "./input/open.ts";
import type { CliIo } from "./io.ts";
import { ProgressLine } from "./progress_line.ts";
import { PUBLISH_HELP, type PublishPlan, publishPlan } from "./publish_options.ts";
import { rowsOf } from "./report.ts";
import { connectHere } from "./runtime.ts";

/**
 * Runs `jetrow publish`.
 *
 * @param args the arguments behind `publish`
 * @param io what it reads and writes
 * @returns the exit code: 0
 * @throws what went wrong; receipts that were printed stand
 * @example
 * ```ts ignore
 * await publish(["orders.arrow", "--url", "nats://localhost", "--stream", "ORDERS", "--subject", "orders"], io);
 * ```
 */
export async function publish(args: readonly string[], io: CliIo): Promise<number> {
  const plan = await publishPlan(args, io);
  if (plan === undefined) {
    await io.stdout.write(PUBLISH_HELP);
    return 0;
  }
  // All of them, before a row is sent: a name that is mistyped, or a file that is cut, is found at once.
  const sources = await Promise.all(plan.sources.map(async ({ file, resource }): Promise<OpenSource> => ({
    input: file === "-" ? openPipe(io.stdin, "standard input") : await openPath(file),
    resource,
  })));
  if (plan.dryRun) await dryRun(plan, sources, io);
  else await new Publication(plan, io, sources).run();
  return 0;
}

class Publication {
  readonly #plan: PublishPlan;
  readonly #io: CliIo;
  readonly #sources: readonly OpenSource[];
  readonly #progress: ProgressLine;
  readonly #announced = new Set<string>();
  #receipts = 0;
  #rows = 0;

  constructor(plan: PublishPlan, io: CliIo, sources: readonly OpenSource[]) {
    this.#plan = plan;
    this.#io = io;
    this.#sources = sources;
    this.#progress = new ProgressLine(io.stderr, plan.progress, totalRows(sources));
  }

  async run(): Promise<void> {
    const started = performance.now();
    const run = await this.#open();
    try {
      await this.#announce(run);
      for (const source of this.#sources) await this.#publish(run, source);
      const total = await run.commit();
      this.#progress.clear();
      await this.#summary(total, (performance.now() - started) / 1000);
    } catch (error) {
      this.#progress.clear();
      await this.#announce(run);
      if (this.#receipts > 0) {
        await this.#say(`jetrow: before that ${rowsOf(this.#rows)} were acknowledged, as the receipts say`);
      }
      throw error;
    } finally {
      // A failed call has told already what there is to tell.
      await run.abort().catch(() => {});
    }
  }

  async #open(): Promise<BoundedRun> {
    const { config } = this.#plan;
    const opening = openRun(() => connectHere(config), {
      ...config,
      onProgress: (progress) => this.#progress.show(progress),
    });
    return await unlessAborted(opening, this.#io.signal);
  }

  async #publish(run: BoundedRun, { input, resource }: OpenSource): Promise<void> {
    const { limits, operation } = this.#plan;
    await run.applyAll(batchesOf(resource, input.batches(), operation), {
      ...limits,
      signal: this.#io.signal,
      onReceipt: async (receipt) => {
        await this.#announce(run);
        await this.#print(receipt);
      },
    });
  }

  async #print(receipt: WriteReceipt): Promise<void> {
    await this.#io.stdout.write(`${JSON.stringify(receipt)}\n`);
    this.#receipts++;
    this.#rows += receipt.rows;
  }

  /** What jetrow created has the server's defaults, which a production stream seldom wants. */
  async #announce(run: BoundedRun): Promise<void> {
    for (const stream of run.stats().created) {
      if (this.#announced.has(stream)) continue;
      this.#announced.add(stream);
      await this.#say(`created ${stream}: one replica, no limits`);
    }
  }

  async #summary({ resources, rows, bytes }: RunReceipt, seconds: number): Promise<void> {
    for (const { resource, stream, duplicates } of resources) {
      if (duplicates) {
        await this.#say(`${rowsOf(duplicates)} of ${resource} were duplicates: ${stream} had them already`);
      }
    }
    const rate = Math.max(seconds, 0.001);
    await this.#say(
      `published ${rowsOf(rows)}, ${(bytes / 1e6).toFixed(1)} MB of JSON, in ${seconds.toFixed(1)} s: ` +
        `${rowsOf(rows / rate)}/s, ${(bytes / rate / 1e6).toFixed(1)} MB/s`,
    );
  }

  async #say(line: string): Promise<void> {
    this.#progress.clear();
    await this.#io.stderr.write(`${line}\n`);
  }
}

/** The rows of all inputs, where each one's are known. */
function totalRows(sources: readonly OpenSource[]): number | undefined {
  return sources.reduce<number | undefined>(
    (sum, { input }) => sum === undefined || input.rows === undefined ? undefined : sum + input.rows,
    0,
  );
}
