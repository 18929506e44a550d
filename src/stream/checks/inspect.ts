/**
 * The production checklist: collects the facts of a destination and its consumers, and checks them.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import type { ConsumerInfo, JetStreamAccountStats, StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError, RouteError } from "../../errors/mod.ts";
import { resolveOptions, type Settings } from "../../options/publisher.ts";
import { resourceSubject, templatePattern } from "../../subject/capture.ts";
import { assertStreamName, captureFilter, expandTemplate, hasPlaceholder } from "../../subject/mod.ts";
import type { Options } from "../../types/mod.ts";
import { accountOf } from "../account.ts";
import { type ApiOptions, apiRequest, isApiFailure, requestStreamInfo, unexpectedFailure } from "../api/request.ts";
import type { ApiAnswer } from "../api/answer.ts";
import { type DraftFinding, type Finding, note, refusal, renderFinding } from "./finding.ts";
import { type DestinationFacts, destinationFindings } from "./findings.ts";
import { type InspectOptions, resolveInspection } from "../../options/reading.ts";
import { factsOf } from "../open_stream.ts";
import { interestGap, readerFindings } from "./consumers.ts";
import { serverFindings } from "./server.ts";

/**
 * Checks a destination and its consumers against what is known to go wrong in production. Changes nothing: it creates no
 * stream and sends no message. A publisher refuses to open if there is a finding of severity `error`. What permissions
 * hide is a finding too (`stream.hidden`, `account.hidden`, `consumer.hidden`).
 *
 * @param nc The connection.
 * @param options The options that a publisher would be opened with.
 * @param how The resource to check, the timeout of each answer, and a signal that ends the wait.
 *
 * @throws {ConfigError} If an option is wrong.
 * @throws {RouteError} If the resource cannot be published.
 * @throws {ConnectionError} If no JetStream answers.
 *
 * @example
 * ```ts
 * import { inspect } from "@jetrow/jetrow";
 * import type { NatsConnection } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * async function problems(nc: NatsConnection): Promise<string[]> {
 *   const findings = await inspect(nc, { stream: "ORDERS", subject: "orders.{resource}" }, { resource: "eu" });
 *   return findings.filter(({ severity }) => severity === "error").map(({ code }) => code);
 * }
 * assert.equal(typeof problems, "function");
 * ```
 */
export async function inspect(nc: NatsConnection, options: Options, how: InspectOptions = {}): Promise<Finding[]> {
  return (await draftFindings(nc, options, how)).map((finding) => renderFinding(finding));
}

/** Does the same as {@linkcode inspect}, before the names of options are rendered. */
export async function draftFindings(
  nc: NatsConnection,
  options: Options,
  how: InspectOptions,
): Promise<readonly DraftFinding[]> {
  const settings = resolveOptions(options);
  const { resource, ...waiting } = resolveInspection(how);
  const api: ApiOptions = { domain: settings.domain, inboxPrefix: settings.inboxPrefix, ...waiting };
  const wanted = wantedOf(settings, resource);
  const account = await visible(accountOf(nc, api));
  const hiddenAccount = account instanceof ConnectionError ? [accountHidden(account)] : [];
  const known = account instanceof ConnectionError ? undefined : account;
  if (wanted === undefined) {
    // No other request would find out that no JetStream answers.
    if (account instanceof ConnectionError && account.code !== "connection.permission") throw account;
    const facts = withAccount(factsOf(nc, settings, unnamed(settings), undefined, undefined), known);
    return [unchecked(settings), ...serverFindings(facts), ...hiddenAccount];
  }
  const answer = await visible(requestStreamInfo(nc, wanted.stream, api), "connection.permission");
  if (answer instanceof ConnectionError) {
    const facts = withAccount(factsOf(nc, settings, wanted, undefined, undefined), known);
    return [streamHidden(answer), ...serverFindings(facts), ...hiddenAccount];
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

/** Returns undefined if the name of the stream depends on a resource and there is none. */
function wantedOf(settings: Settings, resource: string | undefined): Inspected | undefined {
  const sharedByResources = !hasPlaceholder(settings.stream) && hasPlaceholder(settings.subject);
  if (resource === undefined) {
    if (hasPlaceholder(settings.stream)) return undefined;
    return { stream: settings.stream, pattern: templatePattern(settings.subject), sharedByResources };
  }
  const stream = expandTemplate(settings.stream, resource);
  assertStreamName(stream);
  const { pattern } = resourceSubject(settings.subject, resource);
  return { stream, pattern, sharedByResources };
}

function unnamed(settings: Settings): Inspected {
  return { stream: settings.stream, pattern: templatePattern(settings.subject), sharedByResources: false };
}

function withAccount(facts: DestinationFacts, account: JetStreamAccountStats | undefined): DestinationFacts {
  return account === undefined ? facts : { ...facts, account };
}

/** Returns the answer, or the ConnectionError if other requests may still work. */
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
): readonly DraftFinding[] {
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
    return [refusal("stream.missing", "subjects", `the stream does not exist: ${error.message}`, remedy)];
  }
}

async function readersOf(
  nc: NatsConnection,
  settings: Settings,
  pattern: string,
  info: StreamInfo,
  api: ApiOptions,
): Promise<readonly DraftFinding[]> {
  const consumers = await visible(consumersOf(nc, info.config.name, api));
  if (!(consumers instanceof ConnectionError)) {
    const gap = interestGap(consumers, info, pattern);
    const findings = consumers.flatMap((consumer) => readerFindings({ consumer, info, pattern, settings }));
    return gap === undefined ? findings : [gap, ...findings];
  }
  const message = `the consumers cannot be listed: ${consumers.message}`;
  const remedy = `Allow $JS.API.CONSUMER.LIST.${info.config.name} to check them.`;
  return [note("consumer.hidden", "consumers", message, remedy)];
}

/** The maximum number of consumers that are listed, since an answer announces how many there are. */
const MOST_CONSUMERS = 65_536;

/** Lists all consumers, 256 per request. Throws a ConnectionError if there are more than {@linkcode MOST_CONSUMERS}. */
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
    for (const consumer of page) consumers.push(consumer);
    if (consumers.length > MOST_CONSUMERS) {
      const message = `Cannot list the consumers of ${stream}: there are more than ${MOST_CONSUMERS}`;
      throw new ConnectionError("connection.no_answer", message);
    }
    if (page.length === 0 || consumers.length >= (answer.total ?? 0)) return consumers;
  }
}

function unchecked({ stream }: Settings): DraftFinding {
  const message = `the stream is ${stream}, one per resource: none was checked`;
  return note("stream.unchecked", "stream", message, words`Set ${option("resource")} to check one.`);
}

function streamHidden(error: ConnectionError): DraftFinding {
  const remedy = "Allow $JS.API.STREAM.INFO.<stream> and the inbox: a publisher needs both to open.";
  return refusal("stream.hidden", "permissions", `the stream cannot be looked up: ${error.message}`, remedy);
}

function accountHidden(error: ConnectionError): DraftFinding {
  const message = `the limits of the account cannot be read: ${error.message}`;
  return note(
    "account.hidden",
    "permissions",
    message,
    "Allow $JS.API.INFO to check them. Publishing does not need it.",
  );
}
