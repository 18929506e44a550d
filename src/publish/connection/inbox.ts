/**
 * The publisher's inbox: one wildcard subscription below which every message has a reply subject of its own.
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

/** The longest wait for a flush, in milliseconds. */
const FLUSH_TIMEOUT = 5000;

/** An open inbox. */
export interface Inbox {
  /** What reply subjects begin with; ends in a dot. */
  readonly prefix: string;
  /** Has answers taken from the bytes that arrive, where the client lets us; what is not taken arrives as before. */
  tap(take: TakeAnswer): void;
  /** Receives nothing more. */
  close(): void;
}

/**
 * Subscribes and waits until the server has taken it, so that a refused inbox is known before any row is sent. Throws a
 * ConnectionError: `connection.permission`, `connection.no_answer`, `connection.closed`. With `deep`, reply subjects
 * may have any number of tokens.
 */
export async function openInbox(
  nc: NatsConnection,
  inboxPrefix: string,
  onReply: (msg: Msg) => void,
  deep = false,
): Promise<Inbox> {
  const prefix = `${createInbox(inboxPrefix)}.`;
  const subject = `${prefix}${deep ? ">" : "*"}`;
  let refused: Error | undefined;
  let subscription: Subscription;
  try {
    subscription = nc.subscribe(subject, {
      callback: (error, msg) => {
        if (error === null) onReply(msg);
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
    tap: (take) => untap = tapAnswers(nc, prefix, take),
    close() {
      untap();
      unsubscribe();
    },
  };
}

async function flushed(nc: NatsConnection, subscription: Subscription): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `Cannot open a publisher: the server answers no ping within ${FLUSH_TIMEOUT} ms`;
      reject(new ConnectionError("connection.no_answer", message));
    }, FLUSH_TIMEOUT);
  });
  late.catch(() => {});
  const gone = deferred<never>();
  let forget: (() => void) | undefined;
  try {
    forget = onClosed(nc, (cause) => gone.reject(connectionFault(cause ?? undefined)));
    // The subscription of a wrapped connection may be a promise.
    await Promise.race([Promise.all([subscription, nc.flush()]), late, gone.promise]);
  } catch (cause) {
    throw cause instanceof ConnectionError ? cause : connectionFault(cause);
  } finally {
    forget?.();
    clearTimeout(timer);
  }
}

/** The error of an opening whose connection is closed, or threw `cause`. */
export function connectionFault(cause?: unknown): ConnectionError {
  const text = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
  return new ConnectionError("connection.closed", `Cannot open a publisher: the connection is closed${text}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}
