/**
 * The report of `jetrow check` as a table for a terminal.
 *
 * @module
 */

import type { Finding, Severity } from "../../stream/checks/finding.ts";
import type { CheckReport } from "./report.ts";
import { formatCount, formatNumber } from "../report.ts";
import { columnsOf, visible, wrapParagraph } from "../text.ts";

const ORDER: readonly Severity[] = ["error", "warning", "info"];

/** Returns the report as lines of text, the worst finding first. */
export function checkTable(report: CheckReport, width = 100): string {
  const { connection, jetstream, destination, findings } = report;
  const facts = [
    ["server", `${connection.server}, nats-server ${connection.version}`],
    ["transport", connection.transport],
    ["message limit", `${formatNumber(connection.maxPayload)} bytes`],
    ["account", jetstream === undefined ? "not shown to this user" : accountText(jetstream)],
    ["stream", destination.stream],
    ["subject", destination.subject],
    ...(destination.resource === undefined ? [] : [["resource", destination.resource]]),
  ];
  const sorted = ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const lines = [
    ...columnsOf(facts.map((cells) => cells.map(visible))),
    "",
    ...sorted.flatMap((finding) => [...findingLines(finding, width), ""]),
    summaryOf(findings),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function accountText({ streams, consumers, storage, maxStorage }: NonNullable<CheckReport["jetstream"]>): string {
  const limit = maxStorage === undefined ? "" : ` of ${formatNumber(maxStorage)}`;
  const use = `${formatCount(streams, "stream")}, ${formatCount(consumers, "consumer")}`;
  return `${use}, ${formatNumber(storage)}${limit} bytes of file storage`;
}

function findingLines({ severity, code, field, message, remedy, consumer }: Finding, width: number): string[] {
  const where = consumer === undefined ? field : `${field} of consumer ${consumer}`;
  return [
    visible(`${severity.toUpperCase().padEnd(7)}  ${code}  (${where})`),
    ...wrapParagraph(visible(message), "  ", width),
    ...wrapParagraph(visible(remedy), "  -> ", width),
  ];
}

function summaryOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return "nothing found";
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const words = { error: "error", warning: "warning", info: "note" };
  return ORDER.map((severity) => formatCount(count(severity), words[severity])).join(", ");
}
