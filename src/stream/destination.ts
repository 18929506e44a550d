/**
 * Where each resource goes: resolved, created where missing, checked, and remembered.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { describe } from "../util/describe.ts";
import { RouteError } from "../errors/mod.ts";
import { type AckSource, type ReadUsualAck, usualAckReader } from "./ack.ts";
import { batchHeaderBytes } from "../message/batch_headers.ts";
import { MessageTarget } from "../message/target.ts";
import type { Settings } from "../options/publisher.ts";
import { templatePattern } from "../subject/capture.ts";
import {
  assertStreamName,
  assertSubject,
  captureFilter,
  expandTemplate,
  hasPlaceholder,
  overlapsSubject,
} from "../subject/mod.ts";
import { millisOf } from "./checks/facts.ts";
import { factsOf, type Found, openStream, refuse, type Wanted } from "./open_stream.ts";
import { refusalFindings } from "./checks/findings.ts";

/** Where one resource goes. */
export interface Destination {
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** The concrete publish subject. */
  readonly subject: string;
  /** What its messages have in common. */
  readonly target: MessageTarget;
  /** Where its acknowledgments come from. */
  readonly source: AckSource;
  /** Reads an acknowledgment of the usual form; 0 for any other. */
  readonly readUsualAck: ReadUsualAck;
  /** The stream's duplicate window in milliseconds; 0 when it has none. */
  readonly duplicateWindow: number;
  /** Throws a RouteError when the largest row of a batch would be acknowledged and removed at once. */
  readonly checkLargest: ((message: number) => void) | undefined;
}

/** Destinations remembered at a time: the least recently used one is looked up again when it comes back. */
const REMEMBERED = 1024;

/** The destinations of one publisher. */
export class Destinations {
  readonly #nc: NatsConnection;
  readonly #settings: Settings;
  readonly #replyBytes: number;
  readonly #known = new Map<string, Promise<Destination>>();
  readonly #created: string[] = [];
  readonly #closing = new AbortController();
  #shared: Found | undefined;

  /** Destinations over a connection; reply subjects have at most `replyBytes` bytes. */
  constructor(nc: NatsConnection, settings: Settings, replyBytes: number) {
    this.#nc = nc;
    this.#settings = settings;
    this.#replyBytes = replyBytes;
  }

  /** Streams that were created here, in order. */
  get created(): readonly string[] {
    return this.#created;
  }

  /** Looks the shared stream up, before any write; a stream per resource is looked up with its first batch. */
  async open(): Promise<void> {
    const { stream, subject } = this.#settings;
    if (hasPlaceholder(stream)) return;
    this.#shared = await this.#find({
      stream,
      pattern: templatePattern(subject),
      filter: () => sharedFilter(stream, subject),
      sharedByResources: hasPlaceholder(subject),
    });
  }

  /** Ends the lookups in progress: nothing is created any more. */
  close(): void {
    this.#closing.abort();
  }

  /** Where a resource goes. Throws RouteErrors and ConnectionErrors; a failed lookup is not remembered. */
  resolve(resource: string): Promise<Destination> {
    const known = this.#known.get(resource);
    if (known !== undefined) {
      // Moved to the end: the first one is the least recently used.
      this.#known.delete(resource);
      this.#known.set(resource, known);
      return known;
    }
    const destination = this.#resolve(resource);
    this.#known.set(resource, destination);
    destination.catch(() => this.#known.delete(resource));
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    return destination;
  }

  async #resolve(resource: string): Promise<Destination> {
    const { stream: streamTemplate, subject: subjectTemplate } = this.#settings;
    const stream = expandTemplate(streamTemplate, resource);
    const subject = expandTemplate(subjectTemplate, resource);
    named(resource, stream, subject, () => {
      assertStreamName(stream);
      assertSubject(subject);
    });
    const wanted: Wanted = {
      stream,
      pattern: subject,
      filter: () => captureFilter({ stream: streamTemplate, subject: subjectTemplate }, resource),
      resource,
      sharedByResources: false,
    };
    const found = this.#shared ?? await this.#find(wanted);
    if (!overlapsSubject(found.info.config.subjects ?? [], subject)) {
      refuse(refusalFindings(factsOf(this.#nc, this.#settings, wanted, found.info, undefined)), wanted);
    }
    return this.#destination(wanted, resource, found);
  }

  async #find(wanted: Wanted): Promise<Found> {
    const found = await openStream(this.#nc, this.#settings, { ...wanted, signal: this.#closing.signal });
    if (found.created) this.#created.push(wanted.stream);
    return found;
  }

  #destination(wanted: Wanted, resource: string, { info }: Found): Destination {
    const { stream, pattern: subject } = wanted;
    const source: AckSource = { stream, domain: (info as { domain?: string }).domain };
    return {
      resource,
      stream,
      subject,
      source,
      target: new MessageTarget(this.#targetFields(resource, stream, subject, info)),
      readUsualAck: usualAckReader(source),
      duplicateWindow: millisOf(info.config.duplicate_window),
      checkLargest: info.config.discard === "old" && info.config.max_bytes > 0
        ? (message) => this.#checkLargest(wanted, info, message)
        : undefined,
    };
  }

  #targetFields(resource: string, stream: string, subject: string, info: Found["info"]): MessageTarget["fields"] {
    const { namespace, maxInFlightBytes, expectedStream, ttl, headers, publishMode } = this.#settings;
    const maxPayload = this.#nc.info?.max_payload ?? Infinity;
    const maxMessage = info.config.max_msg_size > 0 ? info.config.max_msg_size : Infinity;
    return {
      resource,
      stream,
      subject,
      maxMessageBytes: Math.min(maxPayload, maxMessage),
      limitedBy: maxMessage < maxPayload ? `max_msg_size of stream ${stream}` : "the connection's max_payload",
      maxInFlightBytes,
      replyBytes: this.#replyBytes,
      scope: { ...namespace, stream, subject, resource },
      expectedStream,
      ttl,
      headers,
      ...(publishMode === "atomic" ? { batchHeaderBytes } : {}),
    };
  }

  #checkLargest(wanted: Wanted, info: Found["info"], message: number): void {
    const largestMessage = message + new TextEncoder().encode(wanted.pattern).length;
    const facts = { ...factsOf(this.#nc, this.#settings, wanted, info, undefined), largestMessage };
    refuse(refusalFindings(facts).filter(({ code }) => code === "stream.too_small"), wanted);
  }
}

/** Adds resource, stream and subject to the RouteErrors of a check that knows only one of them. */
function named(resource: string, stream: string, subject: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    throw new RouteError(error.code, `Cannot publish resource ${describe(resource)}: ${error.message}`, {
      resource,
      stream,
      subject,
      cause: error,
    });
  }
}

/** The filter of a stream for all resources; an error of it concerns none of them. */
function sharedFilter(stream: string, subject: string): string {
  try {
    return captureFilter({ stream, subject }, "x");
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    throw new RouteError(error.code, error.message, { stream, subject: error.subject });
  }
}
