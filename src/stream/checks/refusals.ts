/**
 * Checks that make a publisher refuse to open: publishing would fail, or lose acknowledged rows.
 *
 * @module
 */

import { option, type Wording, words } from "../../errors/wording.ts";
import { overlapsSubject } from "../../subject/mod.ts";
import { rowPlaceholders } from "../../subject/template.ts";
import { type ApiFailure, failureText } from "../api/answer.ts";
import { needsOf } from "../mode_needs.ts";
import {
  type DestinationFacts,
  durationText,
  hasFeature,
  hostOf,
  type ServerRelease,
  type StreamFacts,
} from "./facts.ts";
import { type DraftFinding, note, refusal } from "./finding.ts";

/** Returns the findings of a stream that does not exist. */
export function absentStream(facts: DestinationFacts): readonly DraftFinding[] {
  const { failure, settings, filter } = facts;
  if (failure !== undefined) return [offline(failure)];
  if (!settings.createStream) {
    return [refusal(
      "stream.missing",
      "name",
      words`the stream does not exist and ${option("createStream")} is false: rows would find no responders`,
      words`Create the stream, or set ${option("createStream")} to true.`,
    )];
  }
  const beyondServer = [batchFlag(facts), ttlOff(facts)].filter((finding) => finding !== undefined);
  if (filter !== undefined && isUncreatable(filter)) return [uncreatable(filter)];
  const message = `the stream does not exist: it will be created with ${
    filter === undefined ? "its one filter" : `the filter ${filter}`
  }, file storage, one replica and no limits`;
  return [
    note("stream.missing", "name", message, "Create it first if it needs replicas or limits."),
    ...beyondServer,
  ];
}

/** Whether servers from 2.10 on refuse to create a stream with this filter: one that begins with a wildcard, except `*`. */
export function isUncreatable(filter: string): boolean {
  return overlapsSubject(["$JS.>"], filter);
}

/** The remedy for such a filter. */
export const WILDCARD_REMEDY: Wording = words`Create the stream yourself, or put a prefix before the placeholder in ${
  option("subject")
}; {resource} can be put into ${option("stream")} instead.`;

function offline(failure: ApiFailure["error"]): DraftFinding {
  return refusal(
    "stream.offline",
    "_nats.req.level",
    `the stream does not answer: ${failureText(failure)}`,
    "Upgrade the servers that host the stream, or bring them back.",
  );
}

function uncreatable(filter: string): DraftFinding {
  return refusal(
    "stream.missing",
    "subjects",
    `the stream does not exist, and the server refuses to create one with the filter ${filter}: it overlaps $JS.>`,
    WILDCARD_REMEDY,
  );
}

/** The checks of an existing stream. Opening a publisher reports the first finding in this order. */
export const REFUSALS: readonly ((facts: StreamFacts) => DraftFinding | undefined)[] = [
  noLeader,
  mirror,
  sealed,
  noAck,
  counter,
  notCaptured,
  noInterest,
  tooSmall,
  batchFlag,
  partialBatch,
  ttlOff,
];

function noLeader({ info }: StreamFacts): DraftFinding | undefined {
  if (info.cluster === undefined || info.cluster.leader) return;
  return refusal(
    "stream.no_leader",
    "cluster.leader",
    `${info.config.name} has no leader: rows find no responders until one is elected`,
    "Wait for the election, or bring back the nodes that hold its replicas.",
  );
}

function mirror({ info }: StreamFacts): DraftFinding | undefined {
  const origin = info.config.mirror?.name;
  if (origin === undefined) return;
  return refusal(
    "stream.mirror",
    "mirror",
    `mirror is ${origin}: a mirror captures no subject, and rows would be stored in ${origin}`,
    `Publish to ${origin}, or to another stream.`,
  );
}

function sealed({ info }: StreamFacts): DraftFinding | undefined {
  if (!info.config.sealed) return;
  const message = "sealed is true: the server refuses every row";
  return refusal("stream.sealed", "sealed", message, "Publish to another stream: sealing cannot be undone.");
}

function noAck({ info }: StreamFacts): DraftFinding | undefined {
  if (!info.config.no_ack) return;
  const message = "no_ack is true: rows are stored but never acknowledged, so each one times out";
  return refusal("stream.no_ack", "no_ack", message, "Set no_ack to false.");
}

function counter({ info }: StreamFacts): DraftFinding | undefined {
  if (!info.config.allow_msg_counter) return;
  const message = "allow_msg_counter is true: the server refuses messages that have a body";
  return refusal("stream.counter", "allow_msg_counter", message, "Publish to a stream without counters.");
}

function notCaptured({ info, pattern }: StreamFacts): DraftFinding | undefined {
  const subjects = info.config.subjects ?? [];
  // A mirror has its own refusal.
  if (info.config.mirror !== undefined || overlapsSubject(subjects, pattern)) return;
  const listed = subjects.length === 0 ? "is empty" : `is ${listText(subjects)}`;
  return refusal(
    "stream.not_captured",
    "subjects",
    `subjects ${listed}: the stream does not capture ${pattern}, so rows would be lost or stored in another stream`,
    `Add ${pattern} to the stream's subjects, or publish to a subject that it captures.`,
  );
}

function noInterest({ info }: StreamFacts): DraftFinding | undefined {
  if (info.config.retention !== "interest" || info.state.consumer_count > 0) return;
  return refusal(
    "stream.no_interest",
    "retention",
    "retention is interest and there is no consumer: rows would be acknowledged but not stored",
    "Create the consumers first, or use the retention limits.",
  );
}

function tooSmall(facts: StreamFacts): DraftFinding | undefined {
  const { config } = facts.info;
  if (config.discard !== "old" || config.max_bytes <= 0) return;
  const size = (facts.largestMessage ?? smallestMessage(facts)) + (config.storage === "memory" ? 16 : 34);
  if (size <= config.max_bytes) return;
  return refusal(
    "stream.too_small",
    "max_bytes",
    `max_bytes is ${config.max_bytes} and discard is old: a row of ${size} bytes would be acknowledged and removed ` +
      "at once",
    "Raise max_bytes, or set discard to new.",
  );
}

/** The size of the smallest row that can be published: the constant headers, `{}`, and the subject. */
function smallestMessage({ pattern }: StreamFacts): number {
  const headers = "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: insert\r\n\r\n";
  return headers.length + pattern.length + 2;
}

function batchFlag({ settings, info, server }: DestinationFacts): DraftFinding | undefined {
  const mode = settings.publishMode;
  const { support } = needsOf(mode);
  if (support === undefined) return;
  const { flag } = support;
  const host = hostOf(info?.config, server);
  if (!hasFeature(host, support.server)) {
    return refusal(
      "stream.batch_flag",
      "_nats.ver",
      words`the server is ${host.version}: ${
        option("publishMode")
      } ${mode} needs ${support.server.version}, older servers store or refuse rows one by one`,
      words`Upgrade the server, or set ${option("publishMode")} to individual.`,
    );
  }
  if (info === undefined || info.config[flag]) return;
  const message = words`${flag} is false: the server refuses rows of ${option("publishMode")} ${mode}`;
  const remedy = words`Set ${flag} to true, or set ${option("publishMode")} to individual.`;
  return refusal("stream.batch_flag", flag, message, remedy);
}

/**
 * Servers up to 2.15.2 miscount the rows of a subject if a batch has several subjects and the stream has `max_msgs` or
 * `max_bytes`, too. They notice a row above the limit only after they have stored the rows before it.
 */
function partialBatch({ settings, info: { config } }: StreamFacts): DraftFinding | undefined {
  const { discard, discard_new_per_subject, max_msgs_per_subject, max_msgs, max_bytes } = config;
  if (!needsOf(settings.publishMode).storesTogether || rowPlaceholders(settings.subject).length === 0) return;
  if (discard !== "new" || !discard_new_per_subject || !(max_msgs_per_subject > 0)) return;
  if (!(max_msgs > 0) && !(max_bytes > 0)) return;
  const limit = max_msgs > 0 ? "max_msgs" : "max_bytes";
  return refusal(
    "stream.batch_flag",
    "discard_new_per_subject",
    words`discard_new_per_subject is true, ${limit} is ${config[limit]} and ${
      option("subject")
    } is ${settings.subject}: servers may store a part of a batch that exceeds max_msgs_per_subject (${max_msgs_per_subject})`,
    words`Set max_msgs and max_bytes to -1, or set ${option("publishMode")} to individual.`,
  );
}

/** The first server with `Nats-TTL`. */
const TTL: ServerRelease = { version: "2.11.0", level: 1 };

function ttlOff({ settings, info, server }: DestinationFacts): DraftFinding | undefined {
  if (settings.ttl === undefined) return;
  const host = hostOf(info?.config, server);
  const able = hasFeature(host, TTL);
  const ttl = settings.ttlMs === undefined ? settings.ttl : durationText(settings.ttlMs);
  if (able && (info === undefined || info.config.allow_msg_ttl)) return;
  return refusal(
    "stream.ttl_off",
    "allow_msg_ttl",
    able
      ? `allow_msg_ttl is false: the server refuses rows with a time to live (${ttl})`
      : `the server is ${host.version}: a time to live (${ttl}) needs ${TTL.version}, older servers ` +
        "ignore it",
    able
      ? words`Set allow_msg_ttl to true, or leave out ${option("ttl")}.`
      : words`Upgrade the server, or leave out ${option("ttl")}.`,
  );
}

/** Returns a list for a message: the first five values, and how many there are more. */
export function listText(values: readonly string[]): string {
  return values.length > 5 ? `${values.slice(0, 5).join(", ")} and ${values.length - 5} more` : values.join(", ");
}
