/**
 * Looks a stream up, creates it if it is missing, and checks that it can accept rows.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { StreamInfo } from "@nats-io/jetstream";
import { option, words } from "../errors/wording.ts";
import { RouteError, type RouteErrorCode } from "../errors/mod.ts";
import type { MessageTarget } from "../message/target.ts";
import type { Settings } from "../options/publisher.ts";
import { failureText } from "./api/answer.ts";
import { type ApiFailure, type ApiOptions, apiRequest, isApiFailure, requestStreamInfo } from "./api/request.ts";
import type { DraftFinding, KnownFindingCode } from "./checks/finding.ts";
import { type DestinationFacts, refusalFindings } from "./checks/findings.ts";
import { isUncreatable, listText, WILDCARD_REMEDY } from "./checks/refusals.ts";
import { needsOf } from "./mode_needs.ts";
import { coversPattern, matchesSubject } from "../subject/pattern.ts";
import { describe } from "../util/describe.ts";
import { STREAM_NAME_IN_USE, STREAM_NOT_FOUND, SUBJECTS_OVERLAP } from "./api/server_codes.ts";

/** A stream to be looked up. */
export interface Wanted {
  /** The stream's name. */
  readonly stream: string;
  /** The publish subject, with `*` for each token that holds the placeholder. */
  readonly pattern: string;
  /** Returns the filter of a created stream; called only if needed, since not every template has one. */
  readonly filter: () => string;
  /** The destination resource, if the lookup is for one. */
  readonly resource?: string | undefined;
  /** Whether several resources share the stream. */
  readonly sharedByResources: boolean;
  /** Ends the lookup. */
  readonly signal?: AbortSignal | undefined;
}

/** A stream that can accept rows. */
export interface Found {
  /** The stream. */
  readonly info: StreamInfo;
  /** Whether this lookup created it. */
  readonly created: boolean;
}

/** Returns a stream that can accept rows, created if needed. Throws a RouteError; without an answer a ConnectionError. */
export async function openStream(nc: NatsConnection, settings: Settings, wanted: Wanted): Promise<Found> {
  const answer = await lookUp(nc, settings, wanted);
  if (!isApiFailure(answer)) return { info: checkStream(nc, settings, wanted, answer, false), created: false };
  refuse(refusalFindings(factsOf(nc, settings, wanted, undefined, answer.error)), wanted);
  return await create(nc, settings, wanted);
}

async function lookUp(nc: NatsConnection, settings: Settings, wanted: Wanted): Promise<StreamInfo | ApiFailure> {
  return await requestStreamInfo(nc, wanted.stream, apiOptions(settings, wanted));
}

function apiOptions({ domain, inboxPrefix }: Settings, { signal }: Wanted): ApiOptions {
  return { domain, inboxPrefix, signal };
}

async function create(nc: NatsConnection, settings: Settings, wanted: Wanted): Promise<Found> {
  const { stream } = wanted;
  const filter = wanted.filter();
  const { support } = needsOf(settings.publishMode);
  const config = {
    name: stream,
    subjects: [filter],
    storage: "file",
    ...(settings.ttl === undefined ? {} : { allow_msg_ttl: true }),
    ...(support === undefined ? {} : { [support.flag]: true }),
  };
  const answer = await apiRequest<StreamInfo>(
    nc,
    `STREAM.CREATE.${stream}`,
    "stream_create_response",
    config,
    apiOptions(settings, wanted),
  );
  if (!isApiFailure(answer)) return { info: checkStream(nc, settings, wanted, answer, true), created: true };
  // The name is in use: another client created the stream in the meantime.
  if (answer.error.err_code !== STREAM_NAME_IN_USE) throw refusedCreation(answer, wanted, filter);
  const other = await lookUp(nc, settings, wanted);
  if (isApiFailure(other)) throw refusedCreation(answer, wanted, filter);
  return { info: checkStream(nc, settings, wanted, other, false), created: false };
}

function refusedCreation({ error }: ApiFailure, wanted: Wanted, filter: string): RouteError {
  const { stream, resource } = wanted;
  const overlaps = error.err_code === SUBJECTS_OVERLAP;
  const advice = isUncreatable(filter)
    ? words` Servers refuse a filter that begins with a wildcard. ${WILDCARD_REMEDY}`
    : overlaps
    ? words` Name that stream in ${option("stream")}, or change ${option("subject")}.`
    : "";
  const message = words`Cannot create stream "${stream}" with the filter "${filter}": ${failureText(error)}.${advice}`;
  return new RouteError("route.create", message, { stream, resource, subject: filter });
}

function checkStream(
  nc: NatsConnection,
  settings: Settings,
  wanted: Wanted,
  info: StreamInfo,
  created: boolean,
): StreamInfo {
  const findings = refusalFindings(factsOf(nc, settings, wanted, info, undefined));
  // A stream that was just created may still be electing its first leader.
  refuse(findings.filter(({ code }) => !(created && code === "stream.no_leader")), wanted);
  return info;
}

/** The code of the RouteError for each finding of severity `error`. */
const REFUSAL_CODES: { readonly [code in KnownFindingCode]?: RouteErrorCode } = {
  "stream.missing": "route.missing",
  "stream.not_captured": "route.not_captured",
  "stream.no_ack": "route.no_ack",
  "stream.sealed": "route.sealed",
  "stream.mirror": "route.mirror",
  "stream.counter": "route.counter",
  "stream.no_interest": "route.no_interest",
  "stream.too_small": "route.too_small",
  "stream.no_leader": "route.no_leader",
  "stream.offline": "route.offline",
  "stream.batch_flag": "route.batch_flag",
  "stream.ttl_off": "route.ttl_off",
};

/** Throws the RouteError of the first finding that is an error. */
export function refuse(
  findings: readonly DraftFinding[],
  wanted: Pick<Wanted, "stream" | "pattern" | "resource">,
): void {
  const found = findings.find(({ severity }) => severity === "error");
  if (found === undefined) return;
  const { stream, pattern: subject, resource } = wanted;
  const message = words`Cannot publish to stream "${stream}" (subject "${subject}"): ${found.message}. ${found.remedy}`;
  throw new RouteError(REFUSAL_CODES[found.code] ?? "route.missing", message, { stream, subject, resource });
}

/** Returns a check of single subjects; undefined if the filters capture every subject of the pattern. */
export function captureCheck(
  resource: string,
  stream: string,
  pattern: string,
  filters: readonly string[],
): MessageTarget["fields"]["checkCaptured"] {
  if (coversPattern(filters, pattern)) return undefined;
  return (subject, row) => {
    if (filters.some((filter) => matchesSubject(filter, subject))) return;
    throw new RouteError(
      "route.not_captured",
      `Cannot publish row ${row} to stream "${stream}" (subject ${
        describe(subject)
      }): the stream does not capture this ` +
        `subject: its subjects are ${listText(filters)}. Add the subject to the stream, or change the row.`,
      { resource, stream, subject, row },
    );
  };
}

/** Returns the facts that the checks read. */
export function factsOf(
  nc: NatsConnection,
  settings: Settings,
  wanted: Pick<Wanted, "stream" | "pattern" | "sharedByResources">,
  info: StreamInfo | undefined,
  failure: ApiFailure["error"] | undefined,
): DestinationFacts {
  const server = nc.info;
  return {
    stream: wanted.stream,
    info,
    failure: failure?.err_code === STREAM_NOT_FOUND ? undefined : failure,
    pattern: wanted.pattern,
    sharedByResources: wanted.sharedByResources,
    settings,
    server: {
      version: server?.version ?? "",
      apiLevel: (server as { api_lvl?: number } | undefined)?.api_lvl,
      maxPayload: server?.max_payload ?? Infinity,
    },
  };
}
