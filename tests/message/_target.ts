import { MessageTarget, type TargetFields } from "../../src/message/target.ts";
import type { Settings } from "../../src/options/publisher.ts";
import { resourceSubject } from "../../src/subject/capture.ts";

/** The target of the rows of resource `eu` with a publisher's settings, on a connection with the server's defaults. */
export function targetOf(settings: Settings, fields: Partial<TargetFields> = {}): MessageTarget {
  const { stream, subject, namespace, subjectEscape, contentType, expectedStream, headers, maxInFlightBytes } =
    settings;
  const { written, pattern, parts } = resourceSubject(subject, "eu");
  return new MessageTarget({
    resource: "eu",
    stream,
    subject: pattern,
    rowSubject: parts,
    subjectEscape,
    maxMessageBytes: 1_048_576,
    limitedBy: "the connection's max_payload",
    maxInFlightBytes,
    replyBytes: 40,
    scope: { ...namespace, stream, subject: written, resource: "eu" },
    contentType,
    expectedStream,
    headers,
    ...fields,
  });
}
