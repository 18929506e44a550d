/**
 * Reads messages through a consumer.
 *
 * @module
 */

import { type NatsConnection, nuid } from "@nats-io/nats-core";
import { type ApiOptions, apiRequest, apiSubject, isApiFailure, unexpectedFailure } from "../api/request.ts";
import { requestMany } from "../api/request_many.ts";
import { type Bodies, isStatus, refusalError, REQUEST_BYTES, type Source } from "./source.ts";
import type { Window } from "./ranges.ts";

/** Reads through a consumer of its own: in memory, without acknowledgments, removed after thirty seconds without use. */
export function consumerSource(nc: NatsConnection, stream: string, options: ApiOptions): Source {
  let name: string | undefined;
  /** The sequence at which the consumer continues. */
  let next = 0;
  /** Messages that it delivered beyond the requested window. */
  let ahead: Bodies = new Map();
  let turn: Promise<unknown> = Promise.resolve();

  async function remove(): Promise<void> {
    if (name === undefined) return;
    const gone = name;
    name = undefined;
    // Also after an abort: otherwise the consumer would stay for a while.
    const unsignalled = { ...options, signal: undefined };
    await apiRequest(nc, `CONSUMER.DELETE.${stream}.${gone}`, "consumer_delete_response", undefined, unsignalled);
  }

  async function begin(at: number): Promise<void> {
    await remove();
    const fresh = `jetrow-verify-${nuid.next()}`;
    const config = {
      name: fresh,
      deliver_policy: "by_start_sequence",
      opt_start_seq: at,
      ack_policy: "none",
      inactive_threshold: 30e9,
      mem_storage: true,
      num_replicas: 1,
    };
    const body = { stream_name: stream, config, action: "create" };
    const answer = await apiRequest(
      nc,
      `CONSUMER.CREATE.${stream}.${fresh}`,
      "consumer_create_response",
      body,
      options,
    );
    if (isApiFailure(answer)) throw unexpectedFailure(`read ${stream} through a consumer`, answer);
    name = fresh;
    next = at;
    ahead = new Map();
  }

  /** Pulls once; returns false if the stream has no more messages. */
  async function pull(bodies: Bodies, window: Window): Promise<boolean> {
    const batch = window.last - next + 1;
    const body = JSON.stringify({ batch, no_wait: true, max_bytes: REQUEST_BYTES });
    let given = 0;
    const subject = apiSubject(`CONSUMER.MSG.NEXT.${stream}.${name}`, options.domain);
    await requestMany(nc, subject, body, options, (msg) => {
      if (isStatus(msg)) return true;
      const sequence = streamSequence(msg.reply);
      if (!Number.isSafeInteger(sequence)) throw refusalError(subject, msg);
      if (window.among.has(sequence)) bodies.set(sequence, msg.data);
      else if (sequence > window.last) ahead.set(sequence, msg.data);
      next = sequence + 1;
      return ++given === batch;
    });
    return given > 0;
  }

  async function readNow(window: Window): Promise<Bodies> {
    const bodies: Bodies = new Map();
    for (const [sequence, data] of ahead) if (window.among.has(sequence)) bodies.set(sequence, data);
    const lowest = Math.min(next, ...ahead.keys());
    if (name === undefined || window.first < lowest || window.first > next + window.wanted.length) {
      await begin(window.first);
    }
    while (next <= window.last && await pull(bodies, window));
    ahead = new Map([...ahead].filter(([sequence]) => sequence > window.last));
    return bodies;
  }

  return {
    close: remove,
    read: (window) => {
      const result = turn.then(() => readNow(window));
      turn = result.catch(() => {});
      return result;
    },
  };
}

/**
 * Returns the stream sequence in a message's reply subject: `$JS.ACK.<stream>.<consumer>.<tries>.<sequence>...`,
 * or the same after `$JS.ACK.<domain>.<account>`.
 */
function streamSequence(reply: string | undefined): number {
  const tokens = (reply ?? "").split(".");
  return Number(tokens[tokens.length >= 11 ? 7 : 5] ?? NaN);
}
