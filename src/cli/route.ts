/**
 * Determines where a resource's rows go, without a server.
 *
 * @module
 */

import { MessageTarget } from "../message/target.ts";
import type { Settings } from "../options/publisher.ts";
import { resourceSubject } from "../subject/capture.ts";
import { assertStreamName } from "../subject/name.ts";
import { expandTemplate } from "../subject/template.ts";
import type { SinkConfig } from "../types/mod.ts";

/** The maximum number of bytes of a reply subject: the prefix, a unique part, a token. */
const REPLY_BYTES = 64;

/**
 * Checks that a resource has a stream and a subject.
 *
 * @throws {RouteError} if it does not fit the templates
 */
export function assertRoute({ stream, subject }: Pick<SinkConfig, "stream" | "subject">, resource: string): void {
  assertStreamName(expandTemplate(stream, resource));
  resourceSubject(subject, resource);
}

/** A destination whose server accepts messages of any size. */
export function targetOf(settings: Settings, resource: string): MessageTarget {
  const stream = expandTemplate(settings.stream, resource);
  const { written, pattern, parts } = resourceSubject(settings.subject, resource);
  const { namespace, subjectEscape, maxInFlightBytes } = settings;
  const { standardHeaders, contentType, expectedStream, headers, ttl } = settings;
  return new MessageTarget({
    resource,
    stream,
    subject: pattern,
    rowSubject: parts,
    subjectEscape,
    maxMessageBytes: Infinity,
    limitedBy: "a server's limit",
    maxInFlightBytes,
    replyBytes: REPLY_BYTES + (settings.inboxPrefix?.length ?? 0),
    scope: { ...namespace, stream, subject: written, resource },
    standardHeaders,
    contentType,
    expectedStream,
    headers,
    ttl,
  });
}
