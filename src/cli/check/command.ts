/**
 * `jetrow check`: the connection, the destination, and what is known to go wrong with it.
 *
 * @module
 */

import { CHECK_HELP, CHECK_OPTIONS } from "./options.ts";
import { checkReport } from "./report.ts";
import { checkTable } from "./table.ts";
import { withConnection } from "../connection.ts";
import { configOf } from "../options/document.ts";
import { formatOf } from "../options/format.ts";
import type { CliIo } from "../io.ts";
import { readArguments, withEnvironment } from "../options/parse.ts";
import { assertRoute } from "../route.ts";
import { UsageError } from "../errors.ts";

/**
 * Runs `jetrow check`. It changes nothing: neither a missing stream is created nor a message sent.
 *
 * @throws {UsageError} {ConfigError} {ConnectionError} {RouteError} what keeps it from checking
 */
export async function check(args: readonly string[], io: CliIo): Promise<number> {
  const given = withEnvironment(readArguments(args, CHECK_OPTIONS), CHECK_OPTIONS, io.env);
  if (given.values.get("help") === true) {
    await io.stdout.write(CHECK_HELP);
    return 0;
  }
  if (given.positionals.length > 0) throw new UsageError("check takes no FILE: the destination is given by options");
  const format = formatOf(given, io.stdout);
  const config = await configOf(given, CHECK_OPTIONS, io);
  const resource = given.values.get("resource") as string | undefined;
  if (resource !== undefined) assertRoute(config, resource);
  const report = await withConnection(config, io.signal, (nc) => checkReport(nc, config, resource, io.signal));
  const text = format === "json" ? `${JSON.stringify(report)}\n` : checkTable(report, io.stdout.columns);
  await io.stdout.write(text);
  return report.ok ? 0 : 1;
}
