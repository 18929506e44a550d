/**
 * The publisher's inbox: one wildcard subscription, below which every message has its own reply subject.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import { createInbox, type Msg, type NatsConnection, type Subscription } from "@nats-io/nats-core";
import { ConnectionError } from "../../errors/mod.ts";
import { onClosed } from "../../stream/api/on_closed.ts";
import { deferred } from "../../util/deferred.ts";
import { settle } from "../../util/settle.ts";
import { type TakeAnswer, tapAnswers } from "./answer_tap.ts";

/** How long a flush is waited for, in milliseconds. */
const FLUSH_TIMEOUT = 5000;

/** Receives the answers below an inbox. */
export interface AnswerReceiver {
  /** Handles an answer. */
  reply(msg: Msg): void;
  /** Handles an answer as bytes, if the client allows it. Returns false for answers to be passed to `reply`. */
  takeAnswer?: TakeAnswer;
}

/** An open inbox. */
export interface Inbox {
  /** The beginning of reply subjects; ends in a dot. */
  readonly prefix: string;
  /** Passes answers to `receiver`. Earlier ones are ignored: nothing was sent. */
  attach(receiver: AnswerReceiver): void;
  /** Unsubscribes. */
  close(): void;
}

/**
 * Subscribes, and waits until the server has handled the subscription: a refused inbox is known before any row is sent.
 * With `deep`, reply subjects may have any number of tokens after the inbox, otherwise one.
 *
 * Throws a ConnectionError: `connection.permission`, `connection.no_answer` or `connection.closed`.
 */
export async function openInbox(
  nc: NatsConnection,
  inboxPrefix: string,
  deep = false,
): Promise<Inbox> {
  const prefix = `${createInbox(inboxPrefix)}.`;
  const subject = `${prefix}${deep ? ">" : "*"}`;
  let refused: Error | undefined;
  let receiver: AnswerReceiver | undefined;
  let subscription: Subscription;
  try {
    subscription = nc.subscribe(subject, {
      callback: (error, msg) => {
        if (error === null) receiver?.reply(msg);
        else refused = error;
      },
    });
  } catch (cause) {
    throw connectionFault(cause);
  }
  const unsubscribe = (): void => void settle(() => subscription.unsubscribe());
  try {
    await flushed(nc, subscription);
  } catch (error) {
    unsubscribe();
    throw error;
  }
  if (refused !== undefined) {
    throw new ConnectionError(
      "connection.permission",
      words`Cannot subscribe to ${subject}: the user has no permission. Allow ${inboxPrefix}.>, or set ${
        option("inboxPrefix")
      }.`,
      { cause: refused },
    );
  }
  let untap = (): void => {};
  return {
    prefix,
    attach(to) {
      receiver = to;
      if (to.takeAnswer !== undefined) untap = tapAnswers(nc, prefix, to.takeAnswer.bind(to));
    },
    close() {
      untap();
      unsubscribe();
    },
  };
}

async function flushed(nc: NatsConnection, subscription: Subscription): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `Cannot open a publisher: the server did not answer a ping within ${FLUSH_TIMEOUT} ms`;
      reject(new ConnectionError("connection.no_answer", message));
    }, FLUSH_TIMEOUT);
  });
  timeout.catch(() => {});
  const closed = deferred<never>();
  let unwatch: (() => void) | undefined;
  try {
    unwatch = onClosed(nc, (cause) => closed.reject(connectionFault(cause ?? undefined)));
    // The subscription of a wrapped connection may be a promise.
    await Promise.race([Promise.all([subscription, nc.flush()]), timeout, closed.promise]);
  } catch (cause) {
    throw cause instanceof ConnectionError ? cause : connectionFault(cause);
  } finally {
    unwatch?.();
    clearTimeout(timer);
  }
}

/** Returns the error of an opening whose connection is closed, or threw `cause`. */
export function connectionFault(cause?: unknown): ConnectionError {
  const text = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
  return new ConnectionError("connection.closed", `Cannot open a publisher: the connection is closed${text}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}
