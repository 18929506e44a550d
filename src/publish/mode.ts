/**
 * The publish modes: which lane a publisher has, and what it asks of pieces and reply subjects.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { Settings } from "../options/publisher.ts";
import { IdFinder } from "../stream/find_ids.ts";
import { currentMoment, elapsedBetween } from "../stream/resend.ts";
import { AtomicLane } from "./lanes/atomic.ts";
import { mostRowsOfBatch } from "./lanes/atomic_batch.ts";
import type { RowFinder } from "./lanes/atomic_settle.ts";
import { FastLane } from "./lanes/fast.ts";
import { FAST_REPLY_BYTES } from "./lanes/fast_protocol.ts";
import type { Inbox } from "./connection/inbox.ts";
import { IndividualLane } from "./lanes/individual.ts";
import type { Lane, LaneHost } from "./lanes/lane.ts";
import type { Wire } from "./connection/wire.ts";

/** The longest token: sixteen digits. */
const TOKEN_BYTES = 16;

/** What a server's clock may be late by between two of its own readings, in milliseconds. */
const SLACK = 1000;

/** Makes the lane of a publisher's mode. */
export function openLane(nc: NatsConnection, wire: Wire, settings: Settings, inbox: Inbox, host: LaneHost): Lane {
  switch (settings.publishMode) {
    case "atomic":
      return new AtomicLane(wire, settings, inbox.prefix.length, host, rowFinder(nc, settings));
    case "fast":
      return new FastLane(wire, settings, inbox.prefix, host);
    case "individual": {
      const lane = new IndividualLane(wire, settings, inbox.prefix.length, host);
      inbox.tap((token, bytes, start, end) => lane.take(token, bytes, start, end));
      return lane;
    }
  }
}

/** Rows that a piece of a sequence may have, whatever its caller asks for. */
export function mostRowsOfPiece(settings: Settings): number {
  return settings.publishMode === "atomic" ? mostRowsOfBatch(settings) : Infinity;
}

/** Bytes that a reply subject has behind the inbox, at most. */
export function replyTailBytes(settings: Settings): number {
  return settings.publishMode === "fast" ? FAST_REPLY_BYTES : TOKEN_BYTES;
}

/** Whether reply subjects have more than one token behind the inbox. */
export function hasDeepReplies(settings: Settings): boolean {
  return settings.publishMode === "fast";
}

function rowFinder(nc: NatsConnection, { domain, inboxPrefix }: Settings): RowFinder {
  const finder = new IdFinder(nc, { domain, inboxPrefix });
  return async (delivery, signal) => {
    const { stream, subject, duplicateWindow } = delivery.destination!;
    const rows = delivery.rows!;
    const ids = Array.from({ length: rows.count }, (_, index) => rows.hasId(index) ? rows.idText(index) : "");
    // What the server knew when the commit came: the machine may have been suspended since.
    const window = duplicateWindow + elapsedBetween(delivery.firstSent.of(0)!, currentMoment()) + SLACK;
    return await finder.find({ stream, subject, ids, since: { window } }, signal);
  };
}
