/**
 * `jetrow verify`: receipts in, their rows read back.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { isJetrowError } from "../../errors/mod.ts";
import { type Verification, verifyReceipt } from "../../stream/verify/verify.ts";
import type { SinkConfig, WriteReceipt } from "../../types/mod.ts";
import { withConnection } from "../connection.ts";
import { configOf } from "../options/document.ts";
import { formatOf } from "../options/format.ts";
import { InputError } from "../input/error.ts";
import type { CliIo } from "../io.ts";
import { readArguments, withEnvironment } from "../options/parse.ts";
import { nameOf } from "../bytes.ts";
import { type NamedReceipt, receiptsOf } from "./receipt_lines.ts";
import { codedMessage, formatCount, formatNumber, rowsOf } from "../report.ts";
import { visible } from "../text.ts";
import { UsageError } from "../errors.ts";
import { VERIFY_HELP, VERIFY_OPTIONS } from "./options.ts";

/** A receipt and the result of verifying it. */
interface Verified extends NamedReceipt {
  /** The verification, or a string with the reason why the rows cannot be read. */
  readonly outcome: Verification | string;
}

/**
 * Runs `jetrow verify`.
 *
 * @throws {UsageError} {ConfigError} {ConnectionError} if it cannot read
 */
export async function verify(args: readonly string[], io: CliIo): Promise<number> {
  const given = withEnvironment(readArguments(args, VERIFY_OPTIONS), VERIFY_OPTIONS, io.env);
  if (given.values.get("help") === true) {
    await io.stdout.write(VERIFY_HELP);
    return 0;
  }
  if (given.positionals.length === 0) throw new UsageError("verify needs a RECEIPT, or - for standard input");
  const format = formatOf(given, io.stdout);
  // Receipts name their streams, so options of a publisher are not required.
  const config = await configOf(given, VERIFY_OPTIONS, io, { stream: "any", subject: "any" });
  return await withConnection(config, io.signal, async (nc) => {
    const tally = { receipts: 0, rows: 0, failed: 0 };
    for (const file of given.positionals) {
      for await (const named of receiptsOf(file, io)) {
        const verified = await verifyOne(nc, named, config, io.signal);
        tally.receipts++;
        tally.rows += verified.receipt.rows;
        tally.failed += isGood(verified) ? 0 : 1;
        await io.stdout.write(`${format === "json" ? jsonOf(verified) : lineOf(verified)}\n`);
      }
    }
    if (tally.receipts === 0) {
      throw new InputError(`${given.positionals.map(nameOf).join(", ")}: no receipt to verify`);
    }
    await io.stderr.write(`${summaryOf(tally)}\n`);
    return tally.failed === 0 ? 0 : 1;
  });
}

/** Returns errors that concern only this receipt, so that the others are still verified. */
async function verifyOne(
  nc: NatsConnection,
  { receipt, where }: NamedReceipt,
  config: SinkConfig,
  signal: AbortSignal,
): Promise<Verified> {
  try {
    return { receipt, where, outcome: await verifyReceipt(nc, receipt, { ...config, signal }) };
  } catch (error) {
    if (!isJetrowError(error)) throw error;
    if (error.name === "ConfigError") throw new InputError(`${where}: ${error.message}`);
    if (error.name !== "StateError" && error.name !== "RouteError") throw error;
    return { receipt, where, outcome: codedMessage(error) };
  }
}

function isGood({ outcome }: Verified): boolean {
  return typeof outcome !== "string" && outcome.ok;
}

function jsonOf({ receipt, outcome }: Verified): string {
  const { uri, batch, offset, rows, bytes, crc32c } = receipt;
  const result = typeof outcome === "string" ? { ok: false, error: outcome } : outcome;
  return JSON.stringify({ uri, batch, offset, ...result, receipt: { rows, bytes, crc32c } });
}

function lineOf({ receipt, where, outcome }: Verified): string {
  const { uri, stream, batch, offset, rows } = receipt;
  // Verifying needs neither: a receipt may be handwritten.
  const place = typeof batch === "number" && typeof offset === "number"
    ? `batch ${batch}, offset ${formatNumber(offset)}`
    : where;
  const what = `${visible(String(uri ?? stream))}  ${visible(place)}: ${rowsOf(rows)}`;
  if (typeof outcome === "string") return `FAILED  ${what}: ${visible(outcome)}`;
  return outcome.ok ? `ok      ${what}` : `FAILED  ${what}: ${differences(outcome, receipt)}`;
}

function differences(found: Verification, { rows, bytes }: WriteReceipt): string {
  if (found.missing > 0) return `${rowsOf(found.missing)} missing`;
  if (found.rows !== rows) return `${rowsOf(found.rows)} read`;
  if (found.bytes !== bytes) return `${formatNumber(found.bytes)} bytes read, ${formatNumber(bytes)} published`;
  return "the content is not what was published";
}

function summaryOf({ receipts, rows, failed }: { receipts: number; rows: number; failed: number }): string {
  const what = `${rowsOf(rows)} of ${formatCount(receipts, "receipt")}`;
  return failed === 0
    ? `verified ${what}: all are there as published`
    : `jetrow: read ${what} back: ${formatCount(failed, "receipt")} failed`;
}
