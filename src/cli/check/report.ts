/**
 * The report of `jetrow check`.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError } from "../../errors/mod.ts";
import { type Finding, renderFinding } from "../../stream/checks/finding.ts";
import { draftFindings } from "../../stream/checks/inspect.ts";
import { type JetStreamUse, testConnection } from "../../stream/test_connection.ts";
import { expandTemplate } from "../../subject/template.ts";
import type { SinkConfig } from "../../types/mod.ts";
import { flagOf } from "../options/option_names.ts";
import { transportHere } from "../runtime.ts";

/** What `jetrow check` has found; printed as JSON to a pipe. */
export interface CheckReport {
  /** Whether no finding is an error. */
  readonly ok: boolean;
  /** The server, and how it was reached. */
  readonly connection: {
    /** Its name. */
    readonly server: string;
    /** Its version. */
    readonly version: string;
    /** The maximum size of a message in bytes. */
    readonly maxPayload: number;
    /** The package that provides the transport. */
    readonly transport: string;
  };
  /** The account's JetStream usage; absent if the user may not request it. */
  readonly jetstream?: JetStreamUse;
  /** Where rows would go. */
  readonly destination: { readonly stream: string; readonly subject: string; readonly resource?: string };
  /** What was found. */
  readonly findings: readonly Finding[];
}

/** Requests the report's data. Data that the user may not see is omitted, and a finding says so. */
export async function checkReport(
  nc: NatsConnection,
  config: SinkConfig,
  resource: string | undefined,
  signal: AbortSignal,
): Promise<CheckReport> {
  const how = { signal, ...(resource === undefined ? {} : { resource }) };
  const findings = (await draftFindings(nc, config, how)).map((finding) => renderFinding(finding, flagOf));
  const jetstream = await accountOf(nc, config, signal);
  const named = (template: string): string => resource === undefined ? template : expandTemplate(template, resource);
  return {
    ok: findings.every(({ severity }) => severity !== "error"),
    connection: {
      server: nc.info?.server_name ?? "",
      version: nc.info?.version ?? "",
      maxPayload: nc.info?.max_payload ?? 0,
      transport: transportHere(config),
    },
    ...(jetstream === undefined ? {} : { jetstream }),
    destination: {
      stream: named(config.stream),
      subject: named(config.subject),
      ...(resource === undefined ? {} : { resource }),
    },
    findings,
  };
}

async function accountOf(
  nc: NatsConnection,
  config: SinkConfig,
  signal: AbortSignal,
): Promise<JetStreamUse | undefined> {
  try {
    return (await testConnection(nc, { ...config, signal })).jetstream;
  } catch (error) {
    if (error instanceof ConnectionError && error.code !== "connection.closed") return undefined;
    throw error;
  }
}
