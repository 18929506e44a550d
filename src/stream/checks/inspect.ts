/**
 * The production checklist: gathers what is known of a destination and its readers, and has it judged.
 *
 * @module
 */

import type { ConsumerInfo, JetStreamAccountStats, StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError, RouteError } from "../../errors/mod.ts";
import { resolveOptions, type Settings } from "../../options/publisher.ts";
import { templatePattern } from "../../subject/capture.ts";
import { assertStreamName, assertSubject, captureFilter, expandTemplate, hasPlaceholder } from "../../subject/mod.ts";
import type { Options } from "../../types/mod.ts";
import { accountOf } from "../account.ts";
import { type ApiOptions, apiRequest, isApiFailure, requestStreamInfo, unexpectedFailure } from "../api/request.ts";
import type { ApiAnswer } from "../api/answer.ts";
import { type Finding, note, refusal } from "./finding.ts";
import { type DestinationFacts, destinationFindings } from "./findings.ts";
import { type InspectOptions, resolveInspection } from "../inspect_options.ts";
import { factsOf } from "../open_stream.ts";
import { readerFindings } from "./consumers.ts";
import { surroundingFindings } from "./server.ts";

/**
 * Checks a destination and its readers against what is known to go wrong in production, and changes nothing: neither a
 * missing stream is created nor a message sent. A finding of severity `error` is one that a publisher refuses to open
 * with. What permissions hide is a finding too (`stream.hidden`, `account.hidden`, `consumer.hidden`).
 *
 * Throws a ConfigError for wrong options, a RouteError for a resource that cannot be published, and a ConnectionError
 * where no JetStream answers.
 *
 * @param nc the connection
 * @param options what a publisher would be opened with
 * @param resource a destination resource: its own subject is checked, and its stream where the name depends on it
 * @param how how long each answer is waited for, and what ends the wait
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * const nc = {
 *   info: { version: "2.15.2", max_payload: 1048576 },
 *   request: () => Promise.reject(Object.assign(new Error(), { name: "PermissionViolationError" })),
 *   closed: () => new Promise(() => {}),
 * } as unknown as NatsConnection;
 * const findings = await inspect(nc, { stream: "ORDERS", subject: "orders.{resource}" });
 * assert.deepEqual(findings.filter(({ severity }) => severity === "error").map(({ code }) => code), ["stream.hidden"]);
 * ```
 */
export async function inspect(
  nc: NatsConnection,
  options: Options,
  resource?: string,
  how: InspectOptions = {},
): Promise<Finding[]> {
  const settings = resolveOptions(options);
  const api: ApiOptions = { domain: settings.domain, inboxPrefix: settings.inboxPrefix, ...resolveInspection(how) };
  const wanted = wantedOf(settings, resource);
  const account = await visible(accountOf(nc, api));
  const hiddenAccount = account instanceof ConnectionError ? [accountHidden(account)] : [];
  const known = account instanceof ConnectionError ? undefined : account;
  if (wanted === undefined) {
    // No stream is asked about: nothing else would tell that no JetStream answers.
    if (account instanceof ConnectionError && account.code !== "connection.permission") throw account;
    const facts = withAccount(factsOf(nc, settings, unnamed(settings), undefined, undefined), known);
    return [unchecked(settings), ...surroundingFindings(facts), ...hiddenAccount];
  }
  const answer = await visible(requestStreamInfo(nc, wanted.stream, api), "connection.permission");
  if (answer instanceof ConnectionError) {
    const facts = withAccount(factsOf(nc, settings, wanted, undefined, undefined), known);
    return [streamHidden(answer), ...surroundingFindings(facts), ...hiddenAccount];
  }
  const destination = streamFindings(nc, settings, wanted, answer, known, resource);
  const readers = isApiFailure(answer) ? [] : await readersOf(nc, settings, wanted.pattern, answer, api);
  return [...destination, ...hiddenAccount, ...readers];
}

/** A stream, and the subjects that are published to it. */
interface Inspected {
  readonly stream: string;
  readonly pattern: string;
  readonly sharedByResources: boolean;
}

/** Undefined where the stream's name depends on a resource and none is given. */
function wantedOf(settings: Settings, resource: string | undefined): Inspected | undefined {
  const sharedByResources = !hasPlaceholder(settings.stream) && hasPlaceholder(settings.subject);
  if (resource === undefined) {
    if (hasPlaceholder(settings.stream)) return undefined;
    return { stream: settings.stream, pattern: templatePattern(settings.subject), sharedByResources };
  }
  const stream = expandTemplate(settings.stream, resource);
  const pattern = expandTemplate(settings.subject, resource);
  assertStreamName(stream);
  assertSubject(pattern);
  return { stream, pattern, sharedByResources };
}

function unnamed(settings: Settings): Inspected {
  return { stream: settings.stream, pattern: templatePattern(settings.subject), sharedByResources: false };
}

function withAccount(facts: DestinationFacts, account: JetStreamAccountStats | undefined): DestinationFacts {
  return account === undefined ? facts : { ...facts, account };
}

/** An answer, or the ConnectionError in its place where asking for less may still work. */
async function visible<T>(answer: Promise<T>, only?: ConnectionError["code"]): Promise<T | ConnectionError> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ConnectionError) || error.code === "connection.closed") throw error;
    if (only !== undefined && error.code !== only) throw error;
    return error;
  }
}

function streamFindings(
  nc: NatsConnection,
  settings: Settings,
  wanted: Inspected,
  answer: ApiAnswer<StreamInfo>,
  account: JetStreamAccountStats | undefined,
  resource: string | undefined,
): readonly Finding[] {
  if (!isApiFailure(answer)) {
    return destinationFindings(withAccount(factsOf(nc, settings, wanted, answer, undefined), account));
  }
  const facts = withAccount(factsOf(nc, settings, wanted, undefined, answer.error), account);
  if (!settings.createStream || facts.failure !== undefined) return destinationFindings(facts);
  try {
    return destinationFindings({ ...facts, filter: captureFilter(settings, resource ?? "x") });
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    const remedy = "Provision the stream, or put a literal prefix before the placeholder.";
    return [refusal("stream.missing", "subjects", `there is no stream ${wanted.stream}: ${error.message}`, remedy)];
  }
}

async function readersOf(
  nc: NatsConnection,
  settings: Settings,
  pattern: string,
  info: StreamInfo,
  api: ApiOptions,
): Promise<readonly Finding[]> {
  const consumers = await visible(consumersOf(nc, info.config.name, api));
  if (!(consumers instanceof ConnectionError)) {
    return consumers.flatMap((consumer) => readerFindings({ consumer, info, pattern, settings }));
  }
  const message = `the stream's consumers are not shown: ${consumers.message}`;
  const remedy = `Allow $JS.API.CONSUMER.LIST.${info.config.name} to have them checked.`;
  return [note("consumer.hidden", "consumers", message, remedy)];
}

/** All consumers; the server gives 256 at a time. */
async function consumersOf(nc: NatsConnection, stream: string, api: ApiOptions): Promise<readonly ConsumerInfo[]> {
  const consumers: ConsumerInfo[] = [];
  while (true) {
    const answer = await apiRequest<{ consumers: readonly ConsumerInfo[] | null; total?: number }>(
      nc,
      `CONSUMER.LIST.${stream}`,
      "consumer_list_response",
      { offset: consumers.length },
      api,
    );
    if (isApiFailure(answer)) throw unexpectedFailure(`list the consumers of ${stream}`, answer);
    const page = Array.isArray(answer.consumers) ? answer.consumers : [];
    consumers.push(...page);
    if (page.length === 0 || consumers.length >= (answer.total ?? 0)) return consumers;
  }
}

function unchecked({ stream }: Settings): Finding {
  const message = `the stream is ${stream}, one per resource: none was checked`;
  return note("stream.unchecked", "stream", message, "Name a resource.");
}

function streamHidden(error: ConnectionError): Finding {
  const remedy = "Allow $JS.API.STREAM.INFO.<stream> and the inbox: a publisher needs both to open.";
  return refusal("stream.hidden", "permissions", `the stream is not shown: ${error.message}`, remedy);
}

function accountHidden(error: ConnectionError): Finding {
  const message = `the account's limits are not shown: ${error.message}`;
  return note(
    "account.hidden",
    "permissions",
    message,
    "Allow $JS.API.INFO to have them checked; publishing needs it not.",
  );
}
