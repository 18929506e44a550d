/**
 * The destination of each resource: resolved, created if missing, checked, and cached.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { describe } from "../util/describe.ts";
import { RouteError } from "../errors/mod.ts";
import { type AckSource, type ReadUsualAck, usualAckReader } from "./ack.ts";
import { MessageTarget } from "../message/target.ts";
import type { Settings } from "../options/publisher.ts";
import { type ResourceSubject, resourceSubject, templatePattern } from "../subject/capture.ts";
import { assertStreamName, captureFilter, expandTemplate, hasPlaceholder, overlapsSubject } from "../subject/mod.ts";
import { isApiFailure, requestStreamInfo } from "./api/request.ts";
import { STREAM_NOT_FOUND } from "./api/server_codes.ts";
import { millisOf } from "./checks/facts.ts";
import { needsOf } from "./mode_needs.ts";
import { captureCheck, factsOf, type Found, openStream, refuse, type Wanted } from "./open_stream.ts";
import { refusalFindings } from "./checks/findings.ts";
import { UsedStreams } from "./used_streams.ts";

/** The destination of one resource. */
export interface Destination {
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** When the stream was created: another stream of the same name has another time. */
  readonly created: string;
  /** The publish subject; or, if the rows have their own, the pattern of all of them. */
  readonly subject: string;
  /** The common parts of its messages. */
  readonly target: MessageTarget;
  /** The stream that acknowledgments must come from. */
  readonly source: AckSource;
  /** Reads an acknowledgment of the usual form; 0 for any other. */
  readonly readUsualAck: ReadUsualAck;
  /** The stream's duplicate window in milliseconds; 0 if it has none. */
  readonly duplicateWindow: number;
  /**
   * Throws a RouteError if the largest row of a batch would be acknowledged and removed at once. It is called with the
   * bytes of that row: header block, payload and subject.
   */
  readonly checkLargest: ((largestMessage: number) => void) | undefined;
}

/** The maximum number of cached destinations: the least recently used one is removed and looked up again when needed. */
const REMEMBERED = 1024;

/** The maximum number of created streams that are listed. */
export const CREATED = 100;

/**
 * The maximum number of repeated lookups in a period of this many milliseconds: many refused rows must not cause many
 * lookups.
 */
const LOOKUPS = 10;
const LOOKUP_PERIOD = 10_000;

/** The destinations of one publisher. */
export class Destinations {
  readonly #nc: NatsConnection;
  readonly #settings: Settings;
  readonly #replyBytes: number;
  readonly #known = new Map<string, Promise<Destination>>();
  readonly #used: UsedStreams;
  #created: readonly string[] = [];
  readonly #closing = new AbortController();
  #shared: Found | undefined;
  /** The repeated lookup of the shared stream in progress. */
  #renewing: Promise<Found> | undefined;
  /** When streams were looked up again, in milliseconds of `performance.now()`: the last {@linkcode LOOKUPS} times. */
  readonly #lookups: number[] = [];

  /** Creates the destinations of a connection; reply subjects have at most `replyBytes` bytes; `used` may have streams. */
  constructor(nc: NatsConnection, settings: Settings, replyBytes: number, used: UsedStreams = new UsedStreams()) {
    this.#used = used;
    this.#nc = nc;
    this.#settings = settings;
    this.#replyBytes = replyBytes;
  }

  /** Streams that were created here, in order: the last {@linkcode CREATED}. */
  get created(): readonly string[] {
    return this.#created;
  }

  /** Looks the shared stream up, before any write; a stream per resource is looked up with its first batch. */
  async open(): Promise<void> {
    const { stream, subject } = this.#settings;
    if (!hasPlaceholder(stream)) this.#shared = await this.#find(sharedBy(stream, subject));
  }

  /** Records that rows are about to be sent to a destination. */
  use({ stream, created }: Destination): void {
    this.#used.note(stream, created);
  }

  /** Returns a stream that was deleted since rows were sent to it, if any, and forgets the streams that were used. */
  takeLostStream(): Promise<string | undefined> {
    return this.#used.takeLost((stream) => this.#creationOf(stream));
  }

  /** Returns when a stream was created; null if it does not exist, undefined without an answer. */
  async #creationOf(stream: string): Promise<string | null | undefined> {
    const { domain, inboxPrefix } = this.#settings;
    const options = { domain, inboxPrefix, signal: this.#closing.signal };
    const info = await requestStreamInfo(this.#nc, stream, options).catch(() => undefined);
    if (info === undefined) return undefined;
    if (isApiFailure(info)) return info.error.err_code === STREAM_NOT_FOUND ? null : undefined;
    return String(info.created);
  }

  /** Ends the lookups in progress, so that no stream is created afterwards. */
  close(): void {
    this.#closing.abort();
  }

  /** Returns the destination of a resource. Throws RouteErrors and ConnectionErrors; a failed lookup is not cached. */
  resolve(resource: string): Promise<Destination> {
    const known = this.#known.get(resource);
    if (known !== undefined) {
      // Moved to the end, so that the first entry is the least recently used.
      this.#known.delete(resource);
      this.#known.set(resource, known);
      return known;
    }
    const destination = this.#resolve(resource);
    this.#known.set(resource, destination);
    destination.catch(() => {
      if (this.#known.get(resource) === destination) this.#known.delete(resource);
    });
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    return destination;
  }

  /**
   * Looks a destination's stream up again, since its limits may have changed, before rows are refused by them.
   * Returns undefined if streams were looked up too often recently. Throws as {@linkcode resolve} does.
   */
  async renew(old: Destination): Promise<Destination | undefined> {
    const { resource } = old;
    const current = await this.resolve(resource);
    if (current !== old) return current;
    if (!this.#mayLookUp()) return undefined;
    if (this.#shared !== undefined) await this.#renewShared();
    else this.#known.delete(resource);
    return await this.resolve(resource);
  }

  #mayLookUp(): boolean {
    if (this.#renewing !== undefined) return true;
    const now = performance.now();
    if (this.#lookups.length === LOOKUPS && now - this.#lookups[0]! < LOOKUP_PERIOD) return false;
    if (this.#lookups.push(now) > LOOKUPS) this.#lookups.shift();
    return true;
  }

  /** Looks the shared stream up again. Does not create a missing stream a second time. */
  #renewShared(): Promise<Found> {
    return this.#renewing ??= this.#lookUpShared().finally(() => this.#renewing = undefined);
  }

  async #lookUpShared(): Promise<Found> {
    const { stream, subject } = this.#settings;
    const found = await this.#find(sharedBy(stream, subject), { ...this.#settings, createStream: false });
    this.#known.clear();
    return this.#shared = found;
  }

  async #resolve(resource: string): Promise<Destination> {
    const { stream: streamTemplate, subject: subjectTemplate } = this.#settings;
    const stream = expandTemplate(streamTemplate, resource);
    const subject = named(resource, stream, expandTemplate(subjectTemplate, resource), () => {
      assertStreamName(stream);
      return resourceSubject(subjectTemplate, resource);
    });
    const { pattern } = subject;
    const wanted: Wanted = {
      stream,
      pattern,
      filter: () => captureFilter({ stream: streamTemplate, subject: subjectTemplate }, resource),
      resource,
      sharedByResources: false,
    };
    let found = this.#shared ?? await this.#find(wanted);
    if (this.#shared !== undefined && !captures(found, pattern) && this.#mayLookUp()) found = await this.#renewShared();
    if (!captures(found, pattern)) {
      refuse(refusalFindings(factsOf(this.#nc, this.#settings, wanted, found.info, undefined)), wanted);
    }
    return this.#destination(wanted, resource, subject, found);
  }

  async #find(wanted: Wanted, settings = this.#settings): Promise<Found> {
    const found = await openStream(this.#nc, settings, { ...wanted, signal: this.#closing.signal });
    if (found.created) this.#created = [...this.#created, wanted.stream].slice(-CREATED);
    return found;
  }

  #destination(wanted: Wanted, resource: string, subject: ResourceSubject, { info }: Found): Destination {
    const { stream, pattern } = wanted;
    const source: AckSource = { stream, domain: (info as { domain?: string }).domain };
    return {
      resource,
      stream,
      created: String(info.created),
      subject: pattern,
      source,
      target: new MessageTarget(this.#targetFields(resource, stream, subject, info)),
      readUsualAck: usualAckReader(source),
      duplicateWindow: millisOf(info.config.duplicate_window),
      checkLargest: info.config.discard === "old" && info.config.max_bytes > 0
        ? (largestMessage) => this.#checkLargest(wanted, info, largestMessage)
        : undefined,
    };
  }

  #targetFields(
    resource: string,
    stream: string,
    { written, pattern, parts }: ResourceSubject,
    info: Found["info"],
  ): MessageTarget["fields"] {
    const { namespace, maxInFlightBytes, publishMode } = this.#settings;
    const { subjectEscape, standardHeaders, contentType, expectedStream, ttl, headers } = this.#settings;
    const maxPayload = this.#nc.info?.max_payload ?? Infinity;
    const maxMessage = info.config.max_msg_size > 0 ? info.config.max_msg_size : Infinity;
    return {
      resource,
      stream,
      subject: pattern,
      rowSubject: parts,
      subjectEscape,
      checkCaptured: parts === undefined
        ? undefined
        : captureCheck(resource, stream, pattern, info.config.subjects ?? []),
      maxMessageBytes: Math.min(maxPayload, maxMessage),
      limitedBy: maxMessage < maxPayload ? `max_msg_size of stream ${stream}` : "the connection's max_payload",
      maxInFlightBytes,
      replyBytes: this.#replyBytes,
      scope: { ...namespace, stream, subject: written, resource },
      standardHeaders,
      contentType,
      expectedStream,
      ttl,
      headers,
      batchHeaderBytes: needsOf(publishMode).headerBytes,
    };
  }

  #checkLargest(wanted: Wanted, info: Found["info"], largestMessage: number): void {
    const facts = { ...factsOf(this.#nc, this.#settings, wanted, info, undefined), largestMessage };
    refuse(refusalFindings(facts).filter(({ code }) => code === "stream.too_small"), wanted);
  }
}

function captures({ info }: Found, subject: string): boolean {
  return overlapsSubject(info.config.subjects ?? [], subject);
}

/** Returns the stream that all resources share. */
function sharedBy(stream: string, subject: string): Wanted {
  return {
    stream,
    pattern: templatePattern(subject),
    filter: () => sharedFilter(stream, subject),
    sharedByResources: hasPlaceholder(subject),
  };
}

/** Adds resource, stream and subject to the RouteErrors of a check that knows only one of them. */
function named<T>(resource: string, stream: string, subject: string, check: () => T): T {
  try {
    return check();
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

/** Returns the filter of a stream for all resources; its errors name no resource. */
function sharedFilter(stream: string, subject: string): string {
  try {
    return captureFilter({ stream, subject }, "x");
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    throw new RouteError(error.code, error.message, { stream, subject: error.subject });
  }
}
