/**
 * Checks of the server, the account and the connection.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import type { JetStreamAccountStats } from "@nats-io/jetstream";
import { atLeast, type DestinationFacts, hostOf } from "./facts.ts";
import { type DraftFinding, note, warning } from "./finding.ts";

/** Returns the findings about the server, the account and the connection. */
export function serverFindings(facts: DestinationFacts): readonly DraftFinding[] {
  return [...serverOld(facts), ...serverSync(facts), ...accountLimits(facts), payload(facts)];
}

function serverOld({ info, server }: DestinationFacts): readonly DraftFinding[] {
  const { version } = hostOf(info?.config, server);
  if (atLeast(version, "2.11.0")) return [];
  return [note(
    "server.old",
    "version",
    `the server is ${version}: servers below 2.11 drop rows that overrun them, without an answer`,
    words`Upgrade the server, or keep ${option("maxInFlight")} small.`,
  )];
}

function serverSync({ info }: DestinationFacts): readonly DraftFinding[] {
  if (info?.config.storage === "memory") return [];
  return [note(
    "server.sync",
    "sync_interval",
    "storage is file: acknowledged rows are synced to disk every sync_interval, two minutes by default",
    "Set num_replicas to 3 to survive the loss of one server, or sync_interval: always to survive a power failure (slower).",
  )];
}

function accountLimits({ account, info }: DestinationFacts): readonly DraftFinding[] {
  if (account === undefined) return [];
  const usage = tierOf(account, info?.config.num_replicas ?? 1);
  return (["storage", "memory"] as const).flatMap((kind) => {
    const limit = usage.limits[`max_${kind}`];
    const used = usage[kind];
    if (!(limit > 0) || used <= 0.9 * limit) return [];
    return [warning(
      "account.limits",
      `max_${kind}`,
      `${used} of the account's max_${kind} ${limit} are used: rows will soon be refused`,
      `Raise the account's limit, or remove what is no longer needed.`,
    )];
  });
}

/** An account with tiers has limits per number of replicas. */
function tierOf(
  account: JetStreamAccountStats,
  replicas: number,
): Pick<JetStreamAccountStats, "limits" | "storage" | "memory"> {
  return account.tiers?.[`R${replicas}`] ?? account;
}

function payload({ info, server }: DestinationFacts): DraftFinding {
  const size = info?.config.max_msg_size ?? -1;
  const smaller = size > 0 && size < server.maxPayload ? "max_msg_size" : "max_payload";
  const limit = smaller === "max_msg_size" ? size : server.maxPayload;
  const other = smaller === "max_msg_size"
    ? `below the connection's max_payload of ${server.maxPayload}`
    : size > 0
    ? `the stream's max_msg_size is ${size}`
    : "the stream has no max_msg_size";
  return note(
    "connection.payload",
    smaller,
    `${smaller} is ${limit} bytes (${other}): a batch with a larger row, headers included, is refused`,
    `Raise ${smaller} if rows are larger.`,
  );
}
