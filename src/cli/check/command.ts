/**
 * `jetrow check`: reads the connection and the destination, and reports what is wrong with them.
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
 * Runs `jetrow check`. It changes nothing: it neither creates a missing stream nor sends a message.
 *
 * @throws {UsageError} {ConfigError} {ConnectionError} {RouteError} if it cannot check
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
