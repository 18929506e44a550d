/**
 * Checks of how a stream keeps rows: limits, replicas, deduplication, and when a stored row is removed.
 *
 * @module
 */

import { resendLimit } from "../resend.ts";
import { option, words } from "../../errors/wording.ts";
import { rowPlaceholders } from "../../subject/template.ts";
import { durationText, millisOf, type StreamFacts } from "./facts.ts";
import { type DraftFinding, note, warning } from "./finding.ts";

type Check = (facts: StreamFacts) => DraftFinding | undefined;

const HOUR = 3_600_000;

/** A replica that lags by this many messages counts as behind; a healthy one lags by the rows in flight. */
const LAG = 1000;

/** The checks, in the order of the report. */
export const KEEPING: readonly Check[] = [
  reserved,
  unbounded,
  discardOld,
  lastValue,
  fullSubjects,
  nearlyFull,
  shortAge,
  noDedupe,
  shortDedupe,
  singleCopy,
  evenReplicas,
  memory,
  asyncPersist,
  replicaLag,
  transform,
  otherWriters,
  republish,
  workQueue,
  purgeable,
  markerTtl,
  sharedLimits,
  directOff,
];

function reserved({ info, settings }: StreamFacts): DraftFinding | undefined {
  const kind = /^(KV|OBJ)_/.exec(info.config.name)?.[1];
  if (kind === undefined) return;
  // A subject per row is a key per row, which is what the bucket's clients expect.
  if (kind === "KV" && rowPlaceholders(settings.subject).length > 0) return;
  return warning(
    "stream.reserved",
    "name",
    `the name begins ${kind}_: it is ${
      kind === "KV" ? "a key-value bucket" : "an object store"
    }, whose consumers receive rows that they do not expect`,
    "Publish to another stream.",
  );
}

function unbounded({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.max_age > 0 || config.max_bytes > 0 || config.max_msgs > 0) return;
  return warning(
    "stream.unbounded",
    "max_bytes",
    "max_age, max_bytes and max_msgs are all unlimited: the stream grows until the disk or the account is full",
    "Set max_bytes with discard new, or max_age.",
  );
}

function discardOld(facts: StreamFacts): DraftFinding | undefined {
  const { config } = facts.info;
  if (config.discard !== "old") return;
  const limit = config.max_bytes > 0
    ? `max_bytes is ${config.max_bytes}`
    : config.max_msgs > 0
    ? `max_msgs is ${config.max_msgs}`
    : config.max_msgs_per_subject > 0 && !oneSubject(facts)
    ? `max_msgs_per_subject is ${config.max_msgs_per_subject}`
    : undefined;
  if (limit === undefined) return;
  return warning(
    "stream.discard_old",
    "discard",
    `discard is old and ${limit}: a full stream removes its oldest rows, acknowledged ones too`,
    "Set discard to new: a full stream then refuses rows instead of losing others.",
  );
}

function lastValue(facts: StreamFacts): DraftFinding | undefined {
  const { config } = facts.info;
  if (!(config.max_msgs_per_subject > 0) || !oneSubject(facts)) return;
  const refused = config.discard === "new" && config.discard_new_per_subject;
  return warning(
    "stream.last_value",
    "max_msgs_per_subject",
    `max_msgs_per_subject is ${config.max_msgs_per_subject} and all rows have the subject ${facts.pattern}: ${
      refused ? "further rows are refused" : "acknowledged rows replace each other"
    }`,
    "Set max_msgs_per_subject to -1.",
  );
}

/** With several subjects the number of rows of each is unknown, but the limit is known. */
function fullSubjects(facts: StreamFacts): DraftFinding | undefined {
  const { discard, discard_new_per_subject, max_msgs_per_subject } = facts.info.config;
  if (discard !== "new" || !discard_new_per_subject || !(max_msgs_per_subject > 0) || oneSubject(facts)) return;
  return warning(
    "stream.full_subjects",
    "discard_new_per_subject",
    `discard_new_per_subject is true: a subject of ${facts.pattern} that holds max_msgs_per_subject rows, ` +
      `${max_msgs_per_subject}, refuses further rows`,
    "Set max_msgs_per_subject to -1, or remove what is no longer needed.",
  );
}

function nearlyFull({ info: { config, state } }: StreamFacts): DraftFinding | undefined {
  if (config.discard !== "new") return;
  const [field, used] = config.max_bytes > 0 && state.bytes > 0.9 * config.max_bytes
    ? ["max_bytes" as const, state.bytes]
    : config.max_msgs > 0 && state.messages > 0.9 * config.max_msgs
    ? ["max_msgs" as const, state.messages]
    : [undefined, 0];
  if (field === undefined) return;
  return warning(
    "stream.nearly_full",
    field,
    `${used} of ${field} ${config[field]} are used and discard is new: rows will soon be refused`,
    `Raise ${field}, or remove what is no longer needed.`,
  );
}

function shortAge({ info: { config } }: StreamFacts): DraftFinding | undefined {
  const age = millisOf(config.max_age);
  if (!(age > 0) || age >= HOUR) return;
  const message = `max_age is ${durationText(age)}: rows may expire before they are read`;
  return warning(
    "stream.short_age",
    "max_age",
    message,
    "Raise max_age to the time that the slowest consumer may need.",
  );
}

function noDedupe({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.duplicate_window > 0) return;
  return warning(
    "stream.no_dedupe",
    "duplicate_window",
    "duplicate_window is 0: a row that is sent again is stored twice",
    "Set duplicate_window to more than the time a replay may take.",
  );
}

function shortDedupe({ info: { config }, settings }: StreamFacts): DraftFinding | undefined {
  const window = millisOf(config.duplicate_window);
  const budget = settings.retry?.budget ?? 0;
  const needed = budget + settings.publishTimeout;
  if (!(window > 0) || budget <= resendLimit(window, settings.publishTimeout)) return;
  return warning(
    "stream.short_dedupe",
    "duplicate_window",
    words`duplicate_window is ${durationText(window)}, below ${option("retry.budget")} plus ${
      option("publishTimeout")
    } (${durationText(needed)}): a late replay is stored twice`,
    words`Raise duplicate_window, or lower ${option("retry.budget")} and ${option("publishTimeout")}.`,
  );
}

function singleCopy({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.num_replicas > 1) return;
  return warning(
    "stream.single_copy",
    "num_replicas",
    "num_replicas is 1: the loss of that one server loses the rows",
    "Set num_replicas to 3, in a cluster.",
  );
}

function evenReplicas({ info: { config } }: StreamFacts): DraftFinding | undefined {
  const replicas = config.num_replicas;
  if (replicas < 2 || replicas % 2 === 1) return;
  return warning(
    "stream.even_replicas",
    "num_replicas",
    `num_replicas is ${replicas}: no more failures are tolerated than with ${replicas - 1}`,
    `Set num_replicas to ${replicas + 1}, or to ${replicas - 1}.`,
  );
}

function memory({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.storage !== "memory") return;
  const message = "storage is memory: rows are lost when the servers restart";
  return warning("stream.memory", "storage", message, "Create a stream with file storage: storage cannot be changed.");
}

function asyncPersist({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.persist_mode !== "async") return;
  const message = "persist_mode is async: rows are acknowledged before they are written";
  return warning("stream.async_persist", "persist_mode", message, "Create a stream with the default persist_mode.");
}

function replicaLag({ info }: StreamFacts): DraftFinding | undefined {
  const slow = (info.cluster?.replicas ?? []).filter(({ offline, current, lag }) => {
    return offline || !current || (lag ?? 0) >= LAG;
  });
  if (slow.length === 0) return;
  const states = slow.map(({ name, offline, lag }) => `${name} is ${offline ? "offline" : `${lag ?? 0} behind`}`);
  return warning(
    "stream.replica_lag",
    "cluster.replicas",
    `${states.join(", ")}: acknowledgments are slow, and stop without a majority`,
    "Bring the node back, or find out what slows it down.",
  );
}

function transform({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.subject_transform === undefined) return;
  const { src, dest } = config.subject_transform;
  return warning(
    "stream.transform",
    "subject_transform",
    `subject_transform is ${src || ">"} to ${dest}: rows are stored under another subject than published`,
    "Consumers must filter on the subject after the transform.",
  );
}

function otherWriters({ info: { config } }: StreamFacts): DraftFinding | undefined {
  const sources = config.sources?.map(({ name }) => name) ?? [];
  if (sources.length === 0) return;
  const message = `sources is ${sources.join(", ")}: sequences are shared with other writers`;
  return note("stream.other_writers", "sources", message, "Expect other writers' rows between these.");
}

function republish({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.republish === undefined) return;
  const message =
    `republish is ${config.republish.src || ">"} to ${config.republish.dest}: copies are sent by core NATS, ` +
    "without storage";
  return note("stream.republish", "republish", message, "Subscribers there must tolerate lost rows.");
}

function workQueue({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.retention !== "workqueue") return;
  const message =
    "retention is workqueue: rows are removed when they are consumed, and the retention cannot be changed";
  return note("stream.work_queue", "retention", message, "Verify receipts before the rows are consumed.");
}

function purgeable({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.deny_purge || config.deny_delete) return;
  const message = "deny_purge and deny_delete are off: an operator's purge cannot be undone";
  return note("stream.purgeable", "deny_purge", message, "Set deny_purge or deny_delete if rows must not be removed.");
}

function markerTtl({ info: { config }, settings }: StreamFacts): DraftFinding | undefined {
  const marker = millisOf(config.subject_delete_marker_ttl);
  // The server raises a shorter ttl, except where a subject has one message only.
  if (settings.ttlMs === undefined || settings.ttlMs >= marker || config.max_msgs_per_subject === 1) return;
  return warning(
    "stream.marker_ttl",
    "subject_delete_marker_ttl",
    `subject_delete_marker_ttl is ${durationText(marker)}: the server raises a ttl of ${
      durationText(settings.ttlMs)
    } to it`,
    "Raise ttl, or lower subject_delete_marker_ttl.",
  );
}

function sharedLimits({ info: { config }, sharedByResources }: StreamFacts): DraftFinding | undefined {
  const limited = config.max_bytes > 0 || config.max_msgs > 0;
  if (!sharedByResources || !limited || config.discard !== "old" || config.max_msgs_per_subject > 0) return;
  return note(
    "stream.shared_limits",
    "max_msgs_per_subject",
    "discard is old, and all resources share the stream's limits: rows of a busy one push out those of the others",
    "Set max_msgs_per_subject, or use a stream per resource.",
  );
}

function directOff({ info: { config } }: StreamFacts): DraftFinding | undefined {
  if (config.allow_direct) return;
  const message = "allow_direct is off: verifying a receipt reads through a consumer, which is slower";
  return note("stream.direct_off", "allow_direct", message, "Set allow_direct to true.");
}

function oneSubject({ pattern }: StreamFacts): boolean {
  return !pattern.split(".").includes("*");
}
