/**
 * Opens the parts of a publisher: its connection, inbox and destinations.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { resolveOptions, type Settings } from "../options/publisher.ts";
import { inboxPrefixOf } from "../stream/api/request.ts";
import { Destinations } from "../stream/destination.ts";
import type { UsedStreams } from "../stream/used_streams.ts";
import type { Dial, Options } from "../types/mod.ts";
import { closeConnection } from "./connection/watch.ts";
import { type Inbox, openInbox } from "./connection/inbox.ts";
import { modeOf } from "./mode.ts";

/** The parts of a publisher. */
export interface Opened {
  /** The options, resolved. */
  readonly settings: Settings;
  /** The connection. */
  readonly nc: NatsConnection;
  /** Whether the connection is closed with the publisher. */
  readonly owns: boolean;
  /** The inbox, subscribed. */
  readonly inbox: Inbox;
  /** The destinations; a shared stream is looked up and checked. */
  readonly destinations: Destinations;
}

/**
 * Checks the options, dials if `to` is a function, subscribes to the inbox, and checks a shared stream. Closes the
 * connection if one of these fails and the publisher owns it. `used` has the streams of earlier attempts.
 */
export async function openParts(
  to: Dial,
  options: Options,
  used?: UsedStreams,
): Promise<Opened> {
  const settings = await settingsOf(to, options);
  const owns = typeof to === "function" || settings.ownsConnection;
  const nc = checkConnected(typeof to === "function" ? await to() : to);
  const { deepReplies, replyTailBytes } = modeOf(settings);
  let inbox: Inbox | undefined;
  try {
    inbox = await openInbox(nc, inboxPrefixOf(nc, settings.inboxPrefix), deepReplies);
    const destinations = new Destinations(nc, settings, inbox.prefix.length + replyTailBytes, used);
    await destinations.open();
    return { settings, nc, owns, inbox, destinations };
  } catch (error) {
    inbox?.close();
    if (owns) await closeConnection(nc);
    throw error;
  }
}

async function settingsOf(to: Dial, options: Options): Promise<Settings> {
  try {
    return resolveOptions(options);
  } catch (error) {
    await closeHandedOver(to, options);
    throw error;
  }
}

/** Closes a connection that the caller has handed over with `ownsConnection`, because the options are not valid. */
export async function closeHandedOver(to: Dial, options: Options): Promise<void> {
  if (typeof to !== "function" && options?.ownsConnection === true) await closeConnection(checkConnected(to));
}

function checkConnected(nc: NatsConnection): NatsConnection {
  if (typeof nc?.subscribe === "function") return nc;
  throw new ConfigError("config.type", {
    field: "to",
    rule: "must be a connection, or a function that dials one",
    received: describe(nc),
  });
}
