/**
 * A request that is answered by several messages, on its own inbox.
 *
 * @module
 */

import { createInbox, type Msg, type NatsConnection } from "@nats-io/nats-core";
import { settle } from "../../util/settle.ts";
import { deferred } from "../../util/deferred.ts";
import { ConnectionError } from "../../errors/mod.ts";
import { API_TIMEOUT, type ApiOptions, inboxPrefixOf } from "./request.ts";
import { endings, failedRequest, silenceError } from "./ending.ts";

/**
 * Publishes a request and passes each message that answers it to `take` until that returns that it was the last.
 *
 * Throws a {@linkcode ConnectionError} if no server listens on the subject, if no message arrives within the timeout, on
 * a refused subject and on a closed connection; and the signal's reason after an abort.
 */
export async function requestMany(
  nc: NatsConnection,
  subject: string,
  payload: string,
  options: ApiOptions,
  take: (msg: Msg) => boolean,
): Promise<void> {
  options.signal?.throwIfAborted();
  const prefix = inboxPrefixOf(nc, options.inboxPrefix);
  const timeout = options.timeout ?? API_TIMEOUT;
  const done = deferred<void>();
  const ending = endings(nc, subject, options.signal);
  // One timer that checks whether a message has arrived, instead of one timer per message.
  let heard = false;
  let over = false;
  const timer = setInterval(() => heard ? heard = false : done.reject(silenceError(subject, timeout)), timeout);
  let unsubscribe = (): void => {};
  try {
    const inbox = createInbox(prefix);
    const sub = nc.subscribe(inbox, {
      callback: (error, msg) => {
        if (over) return; // messages that were already read from the socket after the last one
        heard = true;
        try {
          if (error) throw error;
          if (isNoResponders(msg)) throw Object.assign(new Error("no responders"), { name: "NoRespondersError" });
          over = take(msg);
          if (over) done.resolve();
        } catch (error) {
          done.reject(error);
        }
      },
    });
    unsubscribe = () => void settle(() => sub.unsubscribe());
    // With this the client can report that the server refused the publish; otherwise the timeout does.
    (sub as { requestSubject?: string }).requestSubject = subject;
    nc.publish(subject, payload, { reply: inbox });
    // The subscription of a wrapped connection may be a promise.
    await Promise.race([done.promise, ending.promise, Promise.all([sub, done.promise])]);
  } catch (error) {
    if (options.signal?.aborted || error instanceof ConnectionError) throw error;
    throw failedRequest(error, subject, prefix, timeout);
  } finally {
    over = true;
    clearInterval(timer);
    ending.stop();
    unsubscribe();
  }
}

function isNoResponders(msg: Msg): boolean {
  return msg.data.length === 0 && msg.headers?.code === 503;
}
