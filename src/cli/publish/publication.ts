/**
 * A run of `jetrow publish`: what is sent, and what is said of it.
 *
 * @module
 */

import { withBatch } from "../../errors/encode.ts";
import type { NatsConnection } from "@nats-io/nats-core";
import { isJetrowError } from "../../errors/mod.ts";
import type { AccountedOptions } from "../../lifecycle/sequence/piece_log.ts";
import { publishAll } from "../../lifecycle/publish_all.ts";
import { openRun } from "../../lifecycle/run.ts";
import { Totals } from "../../lifecycle/totals.ts";
import { resolveOptions } from "../../options/publisher.ts";
import type { PublisherStats, ResourceTotal, RowBatch, RunReceipt, WriteReceipt } from "../../types/mod.ts";
import { unlessAborted } from "../../util/unless_aborted.ts";
import { Feed, type Work } from "./feed.ts";
import type { CliIo } from "../io.ts";
import type { InputField, JournalLine } from "../journal/line.ts";
import type { JournalWriter } from "../journal/writer.ts";
import { Keeper } from "./piece_tracker.ts";
import { ProgressLine } from "./progress_line.ts";
import type { PublishPlan } from "./options.ts";
import { rowsOf } from "../report.ts";
import { streamNow } from "../resume/streams.ts";
import { connectHere } from "../runtime.ts";

/** What is to be published. */
export interface PublicationParts {
  /** The inputs. */
  readonly inputs: readonly InputField[];
  /** What is left of them. */
  readonly work: Work;
  /** How many rows that is, where it is known. */
  readonly rows: number | undefined;
  /** The journal; absent where none is kept. */
  readonly journal: JournalWriter | undefined;
  /** Lines for it, before the next piece. */
  readonly notes: JournalLine[];
}

/** A run. */
export class Publication {
  readonly #plan: PublishPlan;
  readonly #io: CliIo;
  readonly #feed: Feed;
  readonly #keeper: Keeper;
  readonly #progress: ProgressLine;
  readonly #announced = new Set<string>();
  readonly #inputs: PublicationParts["inputs"];
  #nc: NatsConnection | undefined;
  #stats: (() => PublisherStats) | undefined;
  #lossTold = false;
  /** What publishers before this one had acknowledged. */
  #before = { acked: 0, bytes: 0 };
  /** Of the receipts that were printed: a run that has failed has no totals of its own. */
  readonly #printed = new Totals();

  /** A run of a plan. */
  constructor(plan: PublishPlan, io: CliIo, { inputs, work, rows, journal, notes }: PublicationParts) {
    this.#plan = plan;
    this.#io = io;
    this.#inputs = inputs;
    this.#feed = new Feed(work, inputs.map(({ resource }) => resource), plan.operation);
    const settings = resolveOptions(plan.config);
    const lookUp = (stream: string) => streamNow(this.#nc!, stream, settings, io.signal);
    this.#keeper = new Keeper({ inputs, journal, notes, lookUp }, this.#feed);
    this.#progress = new ProgressLine(io.stderr, plan.progress, rows);
  }

  /** Publishes. Throws what went wrong; receipts that were printed stand. */
  async run(): Promise<void> {
    const started = performance.now();
    try {
      const total = await this.#send();
      this.#progress.clear();
      await this.#keeper.close();
      await this.#summary(total, (performance.now() - started) / 1000);
    } catch (error) {
      this.#progress.clear();
      await this.#announce();
      // What ended the run is what is to be told.
      const late = await this.#keeper.close().catch(() => []);
      for (const receipt of late) await this.print(receipt).catch(() => {});
      const { resources, rows } = this.#printed.receipt();
      await this.#sayDuplicates(resources);
      if (resources.length > 0) {
        await this.#say(`jetrow: before that ${rowsOf(rows)} were acknowledged, as the receipts say`);
      }
      throw await this.#placed(error);
    }
  }

  /** Prints a receipt. */
  async print(receipt: WriteReceipt): Promise<void> {
    await this.#io.stdout.write(`${JSON.stringify(receipt)}\n`);
    this.#printed.add(receipt);
  }

  async #send(): Promise<RunReceipt> {
    const { config, limits, retry } = this.#plan;
    const options: AccountedOptions = {
      ...limits,
      signal: this.#io.signal,
      account: {
        opened: (stats) => this.#opened(stats),
        begin: (piece) => this.#keeper.begin(piece),
        left: (pieces) => this.#keeper.left(pieces),
      },
      onReceipt: async (receipt) => {
        await this.#announce();
        const placed = await this.#keeper.receipt(receipt);
        if (placed !== undefined) await this.print(placed);
      },
    };
    const told = { ...config, onProgress: (progress: Parameters<ProgressLine["show"]>[0]) => this.#show(progress) };
    const batches = this.#feed.batches();
    if (retry === undefined) return await this.#once(told, batches, options);
    return await publishAll(() => this.#dial(), told, batches, Object.assign(options, { budget: retry }));
  }

  async #once(
    config: PublishPlan["config"],
    batches: AsyncIterable<RowBatch>,
    options: AccountedOptions,
  ): Promise<RunReceipt> {
    const run = await unlessAborted(openRun(() => this.#dial(), config), this.#io.signal);
    this.#opened(() => run.stats());
    try {
      await this.#announce();
      await run.applyAll(batches, options);
      return await run.commit();
    } finally {
      // A failed call has told already what there is to tell.
      await run.abort().catch(() => {});
    }
  }

  async #dial(): Promise<NatsConnection> {
    this.#keeper.checkTimes();
    if (this.#stats !== undefined && !this.#lossTold) await this.#say("jetrow: the connection is lost: dialling again");
    this.#lossTold = true;
    return this.#nc = await connectHere(this.#plan.config);
  }

  #opened(stats: () => PublisherStats): void {
    if (this.#stats !== undefined) {
      const { acked, duplicates, bytes } = this.#stats();
      this.#before = { acked: this.#before.acked + acked + duplicates, bytes: this.#before.bytes + bytes };
    }
    this.#stats = stats;
    this.#lossTold = false;
  }

  #show(progress: Parameters<ProgressLine["show"]>[0]): void {
    const { acked, bytes } = this.#before;
    this.#progress.show({ ...progress, acked: acked + progress.acked, bytes: bytes + progress.bytes });
  }

  /** Row numbers and outcomes are one batch's: the person knows it by its input. */
  async #placed(error: unknown): Promise<unknown> {
    if (!isJetrowError(error) || (error.name !== "EncodeError" && error.name !== "PublishError")) return error;
    const place = error.batch === undefined ? undefined : this.#feed.placeOf(error.batch);
    if (place === undefined) return error;
    const where = `batch ${place.batch} of ${this.#inputs[place.input]!.file}`;
    if (error.name === "EncodeError") return withBatch(error, place.batch, where);
    await this.#say(`jetrow: the batch in hand is ${where}`);
    return error;
  }

  /** What jetrow created has the server's defaults, which a production stream seldom wants. */
  async #announce(): Promise<void> {
    for (const stream of this.#stats?.().created ?? []) {
      if (this.#announced.has(stream)) continue;
      this.#announced.add(stream);
      await this.#say(`created ${stream}: one replica, no limits`);
    }
  }

  async #summary({ resources, rows, bytes }: RunReceipt, seconds: number): Promise<void> {
    await this.#sayDuplicates(resources);
    const rate = Math.max(seconds, 0.001);
    await this.#say(
      `published ${rowsOf(rows)}, ${(bytes / 1e6).toFixed(1)} MB of JSON, in ${seconds.toFixed(1)} s: ` +
        `${rowsOf(rows / rate)}/s, ${(bytes / rate / 1e6).toFixed(1)} MB/s`,
    );
  }

  async #sayDuplicates(resources: readonly ResourceTotal[]): Promise<void> {
    for (const { resource, stream, duplicates } of resources) {
      if (duplicates) {
        await this.#say(`${rowsOf(duplicates)} of ${resource} were duplicates: ${stream} had them already`);
      }
    }
  }

  async #say(line: string): Promise<void> {
    this.#progress.clear();
    await this.#io.stderr.write(`${line}\n`);
  }
}
