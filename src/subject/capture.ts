/**
 * Derives the filter that a stream needs to capture the subjects of a template.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError, RouteError } from "../errors/mod.ts";
import { overlapsSubject } from "./pattern.ts";
import { expandTemplate, hasPlaceholder, templateFault } from "./template.ts";

/** JetStream's own API, without and with a domain: a stream that captured these requests would answer them. */
const API: readonly string[] = ["$JS.API.>", "$JS.*.API.>"];

/**
 * The destination of rows: two templates.
 *
 * @example
 * ```ts
 * import { captureFilter, type DestinationTemplate } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * const template: DestinationTemplate = { stream: "ORDERS", subject: "orders.{resource}" };
 * assert.equal(captureFilter(template, "eu"), "orders.>");
 * ```
 */
export interface DestinationTemplate {
  /** The stream's name. */
  readonly stream: string;
  /** The publish subject. */
  readonly subject: string;
}

/**
 * Returns the filter of a stream that has to be created.
 *
 * A stream per resource captures the resource's own subject. A stream for all resources captures the subject with `*`
 * for each token that contains the placeholder, and `>` if the last token contains it. NATS has no partial wildcard, so
 * `pre_{resource}` counts as a whole token.
 *
 * Servers from 2.10 on refuse every filter that begins with a wildcard, also `*.events`: such streams have to be
 * provisioned.
 *
 * @throws {RouteError} `route.create` for a filter that overlaps JetStream's API.
 *
 * @example
 * ```ts
 * import { captureFilter } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.equal(captureFilter({ stream: "EVENTS", subject: "events.{resource}" }, "orders"), "events.>");
 * assert.equal(captureFilter({ stream: "{resource}", subject: "{resource}.v1" }, "orders"), "orders.v1");
 * assert.throws(() => captureFilter({ stream: "ALL", subject: "{resource}" }, "orders"), { code: "route.create" });
 * ```
 */
export function captureFilter(template: DestinationTemplate, resource: string): string {
  const filter = hasPlaceholder(template.stream)
    ? expandTemplate(template.subject, resource)
    : sharedFilter(template.subject);
  if (overlapsSubject(API, filter)) {
    throw new RouteError(
      "route.create",
      `Cannot create a stream that captures ${describe(filter)}: it overlaps JetStream's API ($JS.API.>): received ` +
        `${describe(template.subject)}. Put a literal prefix before the placeholder, as in "events.{resource}".`,
      { resource, stream: template.stream, subject: filter },
    );
  }
  return filter;
}

/**
 * Returns the pattern of all subjects that a template gives for resources without dots: `*` for each token that contains
 * the placeholder.
 */
export function templatePattern(subject: string): string {
  const fault = templateFault(subject);
  if (fault !== undefined) {
    throw new ConfigError("config.syntax", { field: "subject", rule: fault, received: describe(subject) });
  }
  return subject.split(".").map((token) => hasPlaceholder(token) ? "*" : token).join(".");
}

function sharedFilter(subject: string): string {
  const tokens = templatePattern(subject).split(".");
  const last = subject.slice(subject.lastIndexOf(".") + 1);
  if (hasPlaceholder(last)) tokens[tokens.length - 1] = ">";
  return tokens.join(".");
}
