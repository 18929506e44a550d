/**
 * A run of `jetrow publish`: sends the rows and prints the results.
 *
 * @module
 */

import { withBatch } from "../../errors/encode.ts";
import type { NatsConnection } from "@nats-io/nats-core";
import { isJetrowError } from "../../errors/mod.ts";
import { resolveSequence } from "../../options/calls.ts";
import { publishSequence } from "../../lifecycle/publish_all.ts";
import type { PieceLog } from "../../lifecycle/sequence/piece_log.ts";
import { Totals } from "../../lifecycle/totals.ts";
import { resolveOptions } from "../../options/publisher.ts";
import type { PublisherStats, ResourceTotal, RunReceipt, WriteReceipt } from "../../types/mod.ts";
import { Feed, type Work } from "./feed.ts";
import type { CliIo } from "../io.ts";
import type { InputField, JournalLine } from "../journal/line.ts";
import type { JournalWriter } from "../journal/writer.ts";
import { connectUnlessAborted } from "../connection.ts";
import { RunFailure } from "../errors.ts";
import { adviceFor, isStreamChanged } from "./advice.ts";
import { Keeper, type PlacedReceipt } from "./piece_tracker.ts";
import { ProgressLine } from "./progress_line.ts";
import type { PublishPlan } from "./options.ts";
import { formatNumber, formatSize, rowsOf } from "../report.ts";
import { visible } from "../text.ts";
import { RowAccount } from "./row_account.ts";
import { streamNow } from "../resume/streams.ts";

/** The work of a run. */
export interface PublicationParts {
  /** The inputs. */
  readonly inputs: readonly InputField[];
  /** What remains to be published of them. */
  readonly work: Work;
  /** The number of remaining rows, if known. */
  readonly rows: number | undefined;
  /** The journal, if there is one. */
  readonly journal: JournalWriter | undefined;
  /** Lines for the journal, before the next piece. */
  readonly notes: JournalLine[];
}

/** A run. */
export class Publication {
  readonly #plan: PublishPlan;
  readonly #io: CliIo;
  readonly #feed: Feed;
  readonly #keeper: Keeper;
  readonly #journal: JournalWriter | undefined;
  readonly #progress: ProgressLine;
  readonly #announced = new Set<string>();
  readonly #inputs: PublicationParts["inputs"];
  /** Aborted when standard output or the journal fails: the run then ends as after an interrupt. */
  readonly #failing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #account: RowAccount;
  readonly #totals = new Totals();
  #fault: { readonly error: unknown } | undefined;
  #nc: NatsConnection | undefined;
  #stats: (() => PublisherStats) | undefined;
  #lossTold = false;
  /** The number of rows that earlier publishers had acknowledged. */
  #before = { acked: 0, bytes: 0 };

  /** Creates the run of a plan. */
  constructor(plan: PublishPlan, io: CliIo, { inputs, work, rows, journal, notes }: PublicationParts) {
    this.#plan = plan;
    this.#io = io;
    this.#inputs = inputs;
    this.#journal = journal;
    this.#signal = AbortSignal.any([io.signal, this.#failing.signal]);
    this.#feed = new Feed(work, inputs.map(({ resource }) => resource), plan.operation);
    const settings = resolveOptions(plan.config);
    const lookUp = (stream: string) => streamNow(this.#nc!, stream, settings, this.#signal);
    this.#keeper = new Keeper({ inputs, journal, notes, lookUp }, this.#feed);
    this.#account = new RowAccount(rows);
    this.#progress = new ProgressLine(io.stderr, plan.progress, rows);
  }

  /** Publishes. Throws a RunFailure that accounts for every row; printed receipts stay valid. */
  async run(): Promise<void> {
    const started = performance.now();
    try {
      const total = await this.#send();
      this.#progress.clear();
      await this.#announce();
      await this.#keeper.close().catch((error) => this.#fail(error));
      if (this.#fault !== undefined) throw this.#fault.error;
      await this.#summary(total, (performance.now() - started) / 1000);
      // Every row was acknowledged, but an interrupt must end the script that runs the command, too.
      this.#io.signal.throwIfAborted();
    } catch (error) {
      this.#progress.clear();
      throw await this.#failure(this.#fault?.error ?? error);
    }
  }

  /** Prints a receipt of rows that an earlier run has published. */
  async print(receipt: WriteReceipt): Promise<void> {
    this.#progress.clear();
    await this.#io.stdout.write(`${JSON.stringify(receipt)}\n`);
  }

  async #send(): Promise<RunReceipt> {
    const { config, limits, retry = 0 } = this.#plan;
    const log: PieceLog = {
      opened: (stats) => this.#opened(stats),
      begin: (piece) => this.#keeper.begin(piece),
      earlier: (batch) => this.#keeper.earlier(batch),
      left: (pieces) => {
        this.#account.leave(pieces);
        this.#keeper.left(pieces);
      },
    };
    const options = { ...limits, signal: this.#signal, onReceipt: (receipt: WriteReceipt) => this.#receive(receipt) };
    const told = { ...config, onProgress: (progress: Parameters<ProgressLine["show"]>[0]) => this.#show(progress) };
    const settings = { ...resolveSequence(options), budget: retry };
    return await publishSequence(() => this.#dial(), told, this.#feed.batches(), settings, log);
  }

  /** Processes the receipt of a piece. Never throws: stored rows must be counted, even if something cannot be written. */
  async #receive(receipt: WriteReceipt): Promise<void> {
    this.#account.acknowledge(receipt);
    this.#totals.add(receipt);
    await this.#announce();
    const placed = this.#keeper.place(receipt);
    if (placed !== undefined) await this.#deliver(placed, receipt.rows);
    else this.#account.print(receipt.rows);
  }

  /** Writes a receipt to the journal and to standard output; if one fails, the other is written nevertheless. */
  async #deliver(placed: PlacedReceipt, rows: number): Promise<void> {
    await this.#keeper.record(placed).catch((error) => this.#fail(error));
    await this.print(placed.receipt).then(() => this.#account.print(rows), (error) => this.#fail(error));
  }

  /** Ends the run after standard output or the journal failed. */
  #fail(error: unknown): void {
    this.#fault ??= { error };
    this.#failing.abort(error);
  }

  /** Accounts for the rows of a run that has failed, and closes its journal. */
  async #failure(error: unknown): Promise<RunFailure> {
    await this.#announce();
    for (const late of this.#keeper.takeLate()) await this.#deliver(late, late.rows);
    // The journal itself may have failed.
    await this.#keeper.close().catch((fault) => this.#fail(fault));
    await this.#sayDuplicates(this.#totals.list());
    if (!this.#keeper.hasBegun && this.#plan.receipt !== undefined) await this.#journal?.clear().catch(() => {});
    const { reason, where } = this.#placed(error);
    const advice = adviceFor(error, { plan: this.#plan, sent: this.#account.hasSent, signal: this.#io.signal });
    if (isStreamChanged(error)) this.#account.loseAcknowledged();
    const counts = this.#account.hasSent || this.#signal.aborted ? [this.#account.line] : [];
    return new RunFailure(reason, [...where, ...counts, ...advice]);
  }

  async #dial(): Promise<NatsConnection> {
    if (this.#stats !== undefined && !this.#lossTold) await this.#say("jetrow: the connection is lost: dialling again");
    this.#lossTold = true;
    return this.#nc = await connectUnlessAborted(this.#plan.config, this.#signal);
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

  /** The library numbers the batches of all inputs; the user knows a batch by its input. */
  #placed(error: unknown): { readonly reason: unknown; readonly where: readonly string[] } {
    if (!isJetrowError(error) || (error.name !== "EncodeError" && error.name !== "PublishError")) {
      return { reason: error, where: [] };
    }
    const place = error.batch === undefined ? undefined : this.#feed.placeOf(error.batch);
    if (place === undefined) return { reason: error, where: [] };
    const where = `batch ${place.batch} of ${this.#inputs[place.input]!.file}`;
    if (error.name === "EncodeError") return { reason: withBatch(error, place.batch, where), where: [] };
    return { reason: error, where: error.code === "publish.aborted" ? [] : [`these are rows of ${where}`] };
  }

  /** Warns about streams that jetrow created, whose server defaults seldom suit production. */
  async #announce(): Promise<void> {
    for (const stream of this.#stats?.().created ?? []) {
      if (this.#announced.has(stream)) continue;
      this.#announced.add(stream);
      await this.#say(`created ${stream}: one replica, no limits`);
    }
  }

  async #summary({ resources, rows, bytes }: RunReceipt, seconds: number): Promise<void> {
    await this.#sayDuplicates(resources);
    if (rows === 0 && this.#plan.resume !== undefined) return await this.#say("no row was left to publish");
    const duplicates = resources.reduce((sum, { duplicates = 0 }) => sum + duplicates, 0);
    const rate = Math.max(seconds, 0.001);
    await this.#say(
      `published ${rowsOf(rows)}${duplicates > 0 ? ` (${formatNumber(duplicates)} of them duplicates)` : ""}, ` +
        `${formatSize(bytes)} of JSON, in ${seconds.toFixed(1)} s: ${rowsOf(rows / rate)}/s, ${
          formatSize(bytes / rate)
        }/s`,
    );
  }

  async #sayDuplicates(resources: readonly ResourceTotal[]): Promise<void> {
    for (const { resource, stream, duplicates } of resources) {
      if (duplicates) {
        await this.#say(`${rowsOf(duplicates)} of ${resource} were duplicates: ${stream} had them already`);
      }
    }
  }

  /** Ignores errors: a failure of standard error must not stop the run. */
  async #say(line: string): Promise<void> {
    this.#progress.clear();
    await this.#io.stderr.write(`${visible(line)}\n`).catch(() => {});
  }
}
