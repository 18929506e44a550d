/**
 * Checks of a stream's consumers: why acknowledged rows do not arrive, or arrive twice.
 *
 * @module
 */

import type { ConsumerInfo, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { overlapsSubject } from "../../subject/mod.ts";
import { coversPattern } from "../../subject/pattern.ts";
import type { FactSettings } from "./facts.ts";
import { type DraftFinding, note, warning } from "./finding.ts";

/** The facts about one consumer. */
export interface ReaderFacts {
  /** The consumer's entry in CONSUMER.LIST. */
  readonly consumer: ConsumerInfo;
  /** Its stream. */
  readonly info: StreamInfo;
  /** The publish subject, with `*` for each token that holds the placeholder. */
  readonly pattern: string;
  /** The publisher's settings. */
  readonly settings: Pick<FactSettings, "ttlMs">;
}

type Check = (facts: ReaderFacts) => DraftFinding | undefined;

const CHECKS: readonly Check[] = [
  filter,
  ackNone,
  ephemeral,
  redelivering,
  maxDeliver,
  noBackoff,
  full,
  narrow,
  paused,
  priorityGroups,
  behind,
  ttl,
  singleCopy,
];

/** Returns every finding of one consumer; each names it. */
export function readerFindings(facts: ReaderFacts): readonly DraftFinding[] {
  const name = facts.consumer.name;
  return CHECKS.map((check) => check(facts))
    .filter((finding) => finding !== undefined)
    .map((finding) => ({ ...finding, message: `consumer ${name}: ${finding.message}`, consumer: name }));
}

/** Returns the finding of a stream that stores only what some consumer's filter matches, if none matches all rows. */
export function interestGap(
  consumers: readonly ConsumerInfo[],
  { config }: StreamInfo,
  pattern: string,
): DraftFinding | undefined {
  if (config.retention !== "interest" || consumers.length === 0) return;
  const filters = consumers.map(filtersOf).flatMap((own) => own.length === 0 ? [">"] : own);
  if (storedAs(config, pattern).some((subject) => coversPattern(filters, subject))) return;
  return warning(
    "stream.interest_gap",
    "retention",
    `retention is interest, and no consumer's filter matches all subjects of ${pattern}: a row that no filter matches ` +
      "is acknowledged but not stored",
    `Create a consumer without a filter or with the filter ${pattern}, or use the retention limits.`,
  );
}

function filtersOf({ config: { filter_subject, filter_subjects } }: ConsumerInfo): readonly string[] {
  return filter_subjects ?? (filter_subject ? [filter_subject] : []);
}

function filter({ consumer, info, pattern }: ReaderFacts): DraftFinding | undefined {
  const filters = filtersOf(consumer);
  if (filters.length === 0) return;
  const overlap = (subjects: readonly string[]) => subjects.some((subject) => overlapsSubject(filters, subject));
  const { config } = info;
  const field = consumer.config.filter_subjects ? "filter_subjects" : "filter_subject";
  const shown = `${field} is ${filters.join(", ")}`;
  // Sources and origins have subjects of their own.
  if (
    !config.sources?.length && !config.mirror &&
    !overlap((config.subjects ?? []).flatMap((subject) => storedAs(config, subject)))
  ) {
    const message = `${shown}: the filter matches no subject of the stream, so this consumer receives nothing`;
    return warning("consumer.filter_empty", field, message, "Correct the filter, or remove the consumer.");
  }
  if (overlap(storedAs(config, pattern))) return;
  const message = `${shown}: rows of ${pattern} never reach this consumer`;
  return note("consumer.filter_miss", field, message, "Add the subject to its filters, if the rows are meant for it.");
}

/** Filters match the subject under which a row is stored: the one after the stream's transform, if it applies. */
function storedAs({ subject_transform: transform }: StreamConfig, subject: string): readonly string[] {
  if (transform === undefined || !overlapsSubject([transform.src || ">"], subject)) return [subject];
  const tokens = transform.dest.split(".");
  // `{{split(1,-)}}` and similar functions make several tokens of one.
  const several = tokens.findIndex((token) => /\{\{\s*(split|slice)/i.test(token));
  const known = several < 0 ? tokens : [...tokens.slice(0, several), ">"];
  const stored = known.map((token) => /\{\{|^\$\d+$/.test(token) ? "*" : token).join(".");
  return [stored, subject];
}

function ackNone({ consumer }: ReaderFacts): DraftFinding | undefined {
  if (consumer.config.ack_policy !== "none") return;
  const message = "ack_policy is none: a row that is lost on the way to the consumer is not sent again";
  return warning(
    "consumer.ack_none",
    "ack_policy",
    message,
    "Set ack_policy to explicit if every row must be processed.",
  );
}

function ephemeral({ consumer }: ReaderFacts): DraftFinding | undefined {
  if (consumer.config.durable_name) return;
  const message = `it has no durable_name: a restart begins at its deliver_policy (${consumer.config.deliver_policy})`;
  return note("consumer.ephemeral", "durable_name", message, "Set durable_name if it must continue after a restart.");
}

function redelivering({ consumer }: ReaderFacts): DraftFinding | undefined {
  if (!(consumer.num_redelivered > 0)) return;
  return warning(
    "consumer.redelivering",
    "num_redelivered",
    `num_redelivered is ${consumer.num_redelivered}: handlers fail, or take longer than ack_wait; ` +
      "side effects happen twice",
    "Fix the handler, raise ack_wait, or send progress acknowledgments.",
  );
}

function maxDeliver({ consumer }: ReaderFacts): DraftFinding | undefined {
  const tries = consumer.config.max_deliver ?? -1;
  // A consumer that expects no acknowledgments delivers once, whatever max_deliver says.
  if (!(tries > 0) || consumer.config.ack_policy === "none") return;
  return warning(
    "consumer.max_deliver",
    "max_deliver",
    `max_deliver is ${tries}: after the last try a row is skipped; there is no dead-letter queue, only an advisory`,
    "Collect the advisory $JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES, or leave deliveries unlimited with backoff.",
  );
}

function noBackoff({ consumer: { config } }: ReaderFacts): DraftFinding | undefined {
  if ((config.max_deliver ?? -1) > 0 || config.backoff?.length || config.ack_policy === "none") return;
  const message = "deliveries are unlimited and there is no backoff: a row that is refused is redelivered at once";
  return note("consumer.no_backoff", "backoff", message, "Set backoff, or refuse rows with a delay.");
}

function full({ consumer }: ReaderFacts): DraftFinding | undefined {
  const limit = consumer.config.max_ack_pending ?? -1;
  if (!(limit > 0) || consumer.num_ack_pending < limit) return;
  const message = `num_ack_pending is at max_ack_pending (${limit}): delivery stops until rows are acknowledged`;
  return warning("consumer.full", "num_ack_pending", message, "Acknowledge rows, or raise max_ack_pending.");
}

function narrow({ consumer }: ReaderFacts): DraftFinding | undefined {
  const limit = consumer.config.max_ack_pending ?? -1;
  if (!(limit > 0)) return;
  const batch = consumer.config.max_batch ?? 0;
  const below = limit < batch
    ? `max_batch (${batch})`
    : limit < consumer.num_waiting
    ? `the pulls that wait (num_waiting is ${consumer.num_waiting})`
    : undefined;
  if (below === undefined) return;
  const message = `max_ack_pending is ${limit}, below ${below}: workers starve`;
  return warning("consumer.narrow", "max_ack_pending", message, "Raise max_ack_pending.");
}

function paused({ consumer }: ReaderFacts): DraftFinding | undefined {
  if (!consumer.paused) return;
  const until = consumer.config.pause_until ? ` until ${consumer.config.pause_until}` : "";
  const message = `it is paused${until}: rows pile up and count against the stream's limits`;
  return warning("consumer.paused", "pause_until", message, "Resume the consumer when it is ready.");
}

function priorityGroups({ consumer }: ReaderFacts): DraftFinding | undefined {
  const groups = consumer.config.priority_groups ?? [];
  if (groups.length < 2) return;
  const message = `priority_groups is ${groups.join(", ")}: only the first is used`;
  return warning("consumer.priority_groups", "priority_groups", message, "Name one group.");
}

function behind({ consumer, info: { config } }: ReaderFacts): DraftFinding | undefined {
  const unread = consumer.num_pending;
  if (!(unread > 0)) return;
  const takes = config.max_age > 0
    ? "max_age"
    : config.discard === "old" && (config.max_bytes > 0 || config.max_msgs > 0)
    ? "discard-old limit"
    : undefined;
  const message = `num_pending is ${unread}: this many rows are unread`;
  if (takes === undefined) {
    return note("consumer.behind", "num_pending", message, "None while the number falls.");
  }
  const worse = `${message}, and the stream's ${takes} may remove them first`;
  return warning("consumer.behind", "num_pending", worse, "Speed up the consumer, or raise the stream's limit.");
}

function ttl({ consumer, settings }: ReaderFacts): DraftFinding | undefined {
  if (settings.ttlMs === undefined || !(consumer.num_pending > 0)) return;
  return warning(
    "consumer.ttl",
    "num_pending",
    `ttl is set and num_pending is ${consumer.num_pending}: rows may expire before this consumer reads them`,
    "Raise ttl, or speed up the consumer.",
  );
}

function singleCopy({ consumer, info }: ReaderFacts): DraftFinding | undefined {
  // Without replicas of its own it has the stream's.
  const replicas = consumer.config.num_replicas || info.config.num_replicas;
  if (consumer.config.mem_storage) {
    const message = "mem_storage is true: the consumer's position is lost with its node";
    return warning(
      "consumer.single_copy",
      "mem_storage",
      message,
      "Set mem_storage to false if the consumer must continue after that.",
    );
  }
  if (replicas >= info.config.num_replicas) return;
  return warning(
    "consumer.single_copy",
    "num_replicas",
    `num_replicas is ${replicas}, the stream's ${info.config.num_replicas}: ` +
      "the consumer's position is lost with its nodes",
    "Set num_replicas to 0, which uses the stream's.",
  );
}
