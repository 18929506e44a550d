/**
 * The findings of checks.
 *
 * @module
 */

import { render, type Wording } from "../../errors/wording.ts";

/** The codes of all findings. `docs/findings.md` describes each. */
export type KnownFindingCode =
  | "stream.missing"
  | "stream.hidden"
  | "stream.unchecked"
  | "stream.not_captured"
  | "stream.no_ack"
  | "stream.sealed"
  | "stream.mirror"
  | "stream.counter"
  | "stream.no_interest"
  | "stream.interest_gap"
  | "stream.too_small"
  | "stream.no_leader"
  | "stream.offline"
  | "stream.batch_flag"
  | "stream.reserved"
  | "stream.unbounded"
  | "stream.discard_old"
  | "stream.last_value"
  | "stream.full_subjects"
  | "stream.nearly_full"
  | "stream.short_age"
  | "stream.no_dedupe"
  | "stream.short_dedupe"
  | "stream.single_copy"
  | "stream.even_replicas"
  | "stream.memory"
  | "stream.async_persist"
  | "stream.replica_lag"
  | "stream.transform"
  | "stream.other_writers"
  | "stream.republish"
  | "stream.work_queue"
  | "stream.purgeable"
  | "stream.ttl_off"
  | "stream.marker_ttl"
  | "stream.shared_limits"
  | "stream.direct_off"
  | "server.old"
  | "server.sync"
  | "account.limits"
  | "account.hidden"
  | "connection.payload"
  | "consumer.hidden"
  | "consumer.filter_miss"
  | "consumer.filter_empty"
  | "consumer.ack_none"
  | "consumer.ephemeral"
  | "consumer.redelivering"
  | "consumer.max_deliver"
  | "consumer.no_backoff"
  | "consumer.full"
  | "consumer.narrow"
  | "consumer.paused"
  | "consumer.priority_groups"
  | "consumer.behind"
  | "consumer.ttl"
  | "consumer.single_copy";

/**
 * The code of a finding. The set is open: a new check may add one.
 *
 * @example
 * ```ts
 * import type { Finding, FindingCode } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const accepted: readonly FindingCode[] = ["stream.single_copy", "stream.unbounded"];
 * const surprising = (findings: readonly Finding[]) => findings.filter(({ code }) => !accepted.includes(code));
 * assert.deepEqual(surprising([]), []);
 * ```
 */
export type FindingCode = string;

/**
 * The severity of a finding. `error`: publishing would fail or lose rows, and a publisher refuses to open. `warning`:
 * rows are at risk, or a guarantee is weaker than it seems. `info`: worth knowing.
 *
 * @example
 * ```ts
 * import type { Severity } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const order: readonly Severity[] = ["error", "warning", "info"];
 * assert.ok(order.indexOf("error") < order.indexOf("info"));
 * ```
 */
export type Severity = "error" | "warning" | "info";

/**
 * One finding about a destination or one of its consumers.
 *
 * @example
 * ```ts
 * import type { Finding } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const line = ({ severity, field, message, remedy }: Finding) => `${severity}: ${field}: ${message}; ${remedy}`;
 * const text = line({
 *   severity: "warning",
 *   code: "stream.single_copy",
 *   field: "num_replicas",
 *   message: "one copy: a lost disk loses the rows",
 *   remedy: "set num_replicas to 3",
 * });
 * assert.ok(text.startsWith("warning: num_replicas: one copy"));
 * ```
 */
export interface Finding {
  /** The severity. */
  readonly severity: Severity;
  /** The kind of the finding, for programs. */
  readonly code: FindingCode;
  /** The field of the stream, consumer, account or connection, in the server's spelling; or the option. */
  readonly field: string;
  /** The field's value, and its effect. */
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
  /** The consumer, if the finding is about one. */
  readonly consumer?: string;
}

/** A finding before its message is rendered. */
export type DraftFinding = Omit<Finding, "code" | "message" | "remedy"> & {
  readonly code: KnownFindingCode;
  readonly message: string | Wording;
  readonly remedy: string | Wording;
};

type Text = string | Wording;

/** Makes a finding of something that may fail in production. */
export function warning(code: KnownFindingCode, field: string, message: Text, remedy: Text): DraftFinding {
  return { severity: "warning", code, field, message, remedy };
}

/** Makes a finding that prevents a publisher from opening. */
export function refusal(code: KnownFindingCode, field: string, message: Text, remedy: Text): DraftFinding {
  return { severity: "error", code, field, message, remedy };
}

/** Makes a finding that is worth knowing. */
export function note(code: KnownFindingCode, field: string, message: Text, remedy: Text): DraftFinding {
  return { severity: "info", code, field, message, remedy };
}

/** Renders the message of a finding. `nameOf` spells the names of options. */
export function renderFinding(finding: DraftFinding, nameOf?: (option: string) => string): Finding {
  return { ...finding, message: render(finding.message, nameOf), remedy: render(finding.remedy, nameOf) };
}
