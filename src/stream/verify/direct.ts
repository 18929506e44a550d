/**
 * Reads messages by direct get.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { type ApiOptions, apiSubject } from "../api/request.ts";
import { requestMany } from "../api/request_many.ts";
import { type Bodies, isStatus, refusalError, REQUEST_BYTES, type Source } from "./source.ts";

/** Reads by direct get in batches (server 2.11, `allow_direct`), which any replica answers, even one that lags. */
export function directSource(nc: NatsConnection, stream: string, options: ApiOptions): Source {
  const subject = apiSubject(`DIRECT.GET.${stream}`, options.domain);
  return {
    close: () => Promise.resolve(),
    async read(window) {
      const bodies: Bodies = new Map();
      for (let next = window.first; next <= window.last;) {
        const query = { seq: next, batch: window.last - next + 1, max_bytes: REQUEST_BYTES };
        const before = next;
        await requestMany(nc, subject, JSON.stringify(query), options, (msg) => {
          const sequence = Number(msg.headers?.last("Nats-Sequence") ?? NaN);
          if (isStatus(msg)) {
            // 204 ends a batch, 404 says that nothing is stored after this; a server that sends neither is too old.
            if (![204, 404].includes(msg.headers!.code)) throw refusalError(subject, msg);
            return true;
          }
          if (!Number.isSafeInteger(sequence) || !msg.headers?.has("Nats-Num-Pending")) {
            throw refusalError(subject, msg);
          }
          if (window.among.has(sequence)) bodies.set(sequence, msg.data);
          next = Math.max(next, sequence + 1);
          return false;
        });
        if (next === before) break;
      }
      return bodies;
    },
  };
}
