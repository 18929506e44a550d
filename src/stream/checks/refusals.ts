/**
 * Checks of what a publisher refuses to open with: publishing would fail, or lose acknowledged rows.
 *
 * @module
 */

import { overlapsSubject } from "../../subject/mod.ts";
import { type ApiFailure, failureText } from "../api/answer.ts";
import {
  type DestinationFacts,
  durationText,
  hasFeature,
  hostOf,
  MINIMUM_VERSIONS,
  type StreamFacts,
} from "./facts.ts";
import { type Finding, note, refusal } from "./finding.ts";

/** What keeps a lookup that found no stream from going on: nothing where it will be created on a server that can. */
export function absentStream(facts: DestinationFacts): readonly Finding[] {
  const { failure, settings, stream, filter } = facts;
  if (failure !== undefined) return [offline(stream, failure)];
  if (!settings.createStream) {
    return [refusal(
      "stream.missing",
      "name",
      `there is no stream ${stream} and createStream is off: rows would find no responders`,
      "Create the stream, or set createStream.",
    )];
  }
  const beyondServer = [batchFlag(facts), ttlOff(facts)].filter((finding) => finding !== undefined);
  if (filter !== undefined && (filter.startsWith("*") || filter === ">")) return [uncreatable(stream, filter)];
  const message = `there is no stream ${stream}: it will be created with ${
    filter === undefined ? "its one filter" : `the filter ${filter}`
  }, file storage, one replica and no limits`;
  return [
    note("stream.missing", "name", message, "Create it beforehand where it needs replicas or limits."),
    ...beyondServer,
  ];
}

function offline(stream: string, failure: ApiFailure["error"]): Finding {
  return refusal(
    "stream.offline",
    "_nats.req.level",
    `${stream} answers nothing: ${failureText(failure)}`,
    "Upgrade the servers that host the stream, or bring them back.",
  );
}

/** From 2.10 on the server refuses every filter that begins with a wildcard: it overlaps `$JS.>`. */
function uncreatable(stream: string, filter: string): Finding {
  return refusal(
    "stream.missing",
    "subjects",
    `there is no stream ${stream} and the server refuses to create one with the filter ${filter}: it overlaps $JS.>`,
    "Provision the stream with its subjects, put the placeholder into stream, or put a literal prefix before it in " +
      "subject.",
  );
}

/** The checks of a stream that is there. The order is that of the refusals: the first one is what opening reports. */
export const REFUSALS: readonly ((facts: StreamFacts) => Finding | undefined)[] = [
  noLeader,
  mirror,
  sealed,
  noAck,
  counter,
  notCaptured,
  noInterest,
  tooSmall,
  batchFlag,
  ttlOff,
];

function noLeader({ info }: StreamFacts): Finding | undefined {
  if (info.cluster === undefined || info.cluster.leader) return;
  return refusal(
    "stream.no_leader",
    "cluster.leader",
    `${info.config.name} has no leader: rows find no responders until one is elected`,
    "Wait for the election, or bring back the nodes that hold its replicas.",
  );
}

function mirror({ info }: StreamFacts): Finding | undefined {
  const origin = info.config.mirror?.name;
  if (origin === undefined) return;
  return refusal(
    "stream.mirror",
    "mirror",
    `mirror is ${origin}: a mirror captures no subject, and a row would land in ${origin}`,
    `Publish to ${origin}, or to a stream of its own.`,
  );
}

function sealed({ info }: StreamFacts): Finding | undefined {
  if (!info.config.sealed) return;
  const message = "sealed is true: the server refuses every row";
  return refusal("stream.sealed", "sealed", message, "Publish to another stream: sealing cannot be undone.");
}

function noAck({ info }: StreamFacts): Finding | undefined {
  if (!info.config.no_ack) return;
  const message = "no_ack is true: rows are stored and never acknowledged, so that each one times out";
  return refusal("stream.no_ack", "no_ack", message, "Set no_ack to false.");
}

function counter({ info }: StreamFacts): Finding | undefined {
  if (!info.config.allow_msg_counter) return;
  const message = "allow_msg_counter is true: the server refuses messages that have a body";
  return refusal("stream.counter", "allow_msg_counter", message, "Publish to a stream that is no counter.");
}

function notCaptured({ info, pattern }: StreamFacts): Finding | undefined {
  const subjects = info.config.subjects ?? [];
  // A mirror has its own refusal, which says more.
  if (info.config.mirror !== undefined || overlapsSubject(subjects, pattern)) return;
  const listed = subjects.length === 0 ? "has none" : `is ${listText(subjects)}`;
  return refusal(
    "stream.not_captured",
    "subjects",
    `subjects ${listed}: ${pattern} is not captured, and a row would go nowhere or into another stream`,
    `Add ${pattern} to the stream's subjects, or publish to a subject that it captures.`,
  );
}

function noInterest({ info }: StreamFacts): Finding | undefined {
  if (info.config.retention !== "interest" || info.state.consumer_count > 0) return;
  return refusal(
    "stream.no_interest",
    "retention",
    "retention is interest and there is no consumer: rows would be acknowledged and stored nowhere",
    "Create the consumers first, or use the retention limits.",
  );
}

function tooSmall(facts: StreamFacts): Finding | undefined {
  const { config } = facts.info;
  if (config.discard !== "old" || config.max_bytes <= 0) return;
  const size = (facts.largestMessage ?? smallestMessage(facts)) + (config.storage === "memory" ? 16 : 34);
  if (size <= config.max_bytes) return;
  return refusal(
    "stream.too_small",
    "max_bytes",
    `max_bytes is ${config.max_bytes} and discard is old: a row that takes ${size} bytes would be acknowledged and ` +
      "removed at once",
    "Raise max_bytes, or set discard to new.",
  );
}

/** Bytes of the smallest row that can be published: the constant headers, `{}`, and the subject. */
function smallestMessage({ pattern }: StreamFacts): number {
  const headers = "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: insert\r\n\r\n";
  return headers.length + pattern.length + 2;
}

const BATCH_FLAGS = { atomic: "allow_atomic", fast: "allow_batched" } as const;

function batchFlag({ settings, info, server }: DestinationFacts): Finding | undefined {
  const mode = settings.publishMode;
  if (mode === "individual") return;
  const flag = BATCH_FLAGS[mode];
  const host = hostOf(info?.config, server);
  if (!hasFeature(host, mode)) {
    return refusal(
      "stream.batch_flag",
      "_nats.ver",
      `the server is ${host.version}: publishMode ${mode} needs ${
        MINIMUM_VERSIONS[mode].version
      }, older ones store or refuse rows one by one`,
      `Upgrade the server, or use publishMode individual.`,
    );
  }
  if (info === undefined || info.config[flag]) return;
  const message = `${flag} is off: the server refuses rows of publishMode ${mode}`;
  return refusal("stream.batch_flag", flag, message, `Set ${flag} to true, or use publishMode individual.`);
}

function ttlOff({ settings, info, server }: DestinationFacts): Finding | undefined {
  if (settings.ttl === undefined) return;
  const host = hostOf(info?.config, server);
  const able = hasFeature(host, "ttl");
  const ttl = settings.ttlMs === undefined ? settings.ttl : durationText(settings.ttlMs);
  if (able && (info === undefined || info.config.allow_msg_ttl)) return;
  return refusal(
    "stream.ttl_off",
    "allow_msg_ttl",
    able
      ? `allow_msg_ttl is off: the server refuses rows with a ttl (${ttl})`
      : `the server is ${host.version}: a ttl (${ttl}) needs ${MINIMUM_VERSIONS.ttl.version}, older ones ignore it`,
    able ? "Set allow_msg_ttl to true, or leave out ttl." : "Upgrade the server, or leave out ttl.",
  );
}

function listText(values: readonly string[]): string {
  return values.length > 5 ? `${values.slice(0, 5).join(", ")} and ${values.length - 5} more` : values.join(", ");
}
