/**
 * Derives the filter that a stream needs to capture the subjects of a template.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError, RouteError } from "../errors/mod.ts";
import { subjectFault } from "./name.ts";
import { overlapsSubject } from "./pattern.ts";
import {
  expandParts,
  hasPlaceholder,
  replacePlaceholders,
  templateFault,
  type TemplatePart,
  templateParts,
} from "./template.ts";

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
 * for each token that contains `{resource}`, and `>` if the last token contains it. In both, a token that contains
 * `{row.NAME}` counts as `*`. NATS has no partial wildcard, so `pre_{resource}` counts as a whole token.
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
 * assert.equal(captureFilter({ stream: "EVENTS", subject: "events.{row.region}" }, "orders"), "events.*");
 * assert.throws(() => captureFilter({ stream: "ALL", subject: "{resource}" }, "orders"), { code: "route.create" });
 * ```
 */
export function captureFilter(template: DestinationTemplate, resource: string): string {
  const filter = hasPlaceholder(template.stream)
    ? patternOf(tokensOf(expandParts(template.subject, resource)))
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

/** The subject of one resource's rows. */
export interface ResourceSubject {
  /** The template with the resource in it; placeholders of a row's values are as written. Message ids contain it. */
  readonly written: string;
  /** The filter of all its subjects: the subject itself, or `*` for each token that a row's values are in. */
  readonly pattern: string;
  /** The parts, if a row's values are among them; undefined if all rows have one subject. */
  readonly parts: readonly TemplatePart[] | undefined;
}

/**
 * Returns the subject that a template gives for a resource.
 *
 * @throws {RouteError} `route.subject` if it is not a subject, whatever the values of a row are.
 */
export function resourceSubject(template: string, resource: string): ResourceSubject {
  const parts = expandParts(template, resource);
  const written = parts.map((part) => part.written).join("");
  const fault = subjectFault(replacePlaceholders(parts, "x"));
  if (fault !== undefined) {
    throw new RouteError("route.subject", `Cannot publish to subject ${describe(written)}: a subject ${fault}`, {
      subject: written,
    });
  }
  return {
    written,
    pattern: patternOf(tokensOf(parts)),
    parts: parts.some(({ kind }) => kind === "row") ? parts : undefined,
  };
}

/**
 * Returns the pattern of all subjects that a template gives for resources without dots: `*` for each token that contains
 * a placeholder.
 */
export function templatePattern(subject: string): string {
  return patternOf(tokensOf(checkedParts(subject)));
}

function sharedFilter(subject: string): string {
  const tokens = tokensOf(checkedParts(subject));
  const openEnd = tokens.at(-1)!.some(({ kind }) => kind === "resource");
  return patternOf(openEnd ? tokens.slice(0, -1) : tokens, openEnd ? [">"] : []);
}

function checkedParts(subject: string): readonly TemplatePart[] {
  const fault = templateFault(subject);
  if (fault === undefined) return templateParts(subject);
  throw new ConfigError("config.syntax", { field: "subject", rule: fault, received: describe(subject) });
}

/** Splits parts at the dots of their literals: the name of a column may contain dots. */
function tokensOf(parts: readonly TemplatePart[]): readonly (readonly TemplatePart[])[] {
  const tokens: TemplatePart[][] = [[]];
  for (const part of parts) {
    if (part.kind !== "literal") {
      tokens.at(-1)!.push(part);
      continue;
    }
    part.written.split(".").forEach((written, at) => {
      if (at > 0) tokens.push([]);
      tokens.at(-1)!.push({ kind: "literal", written });
    });
  }
  return tokens;
}

function patternOf(tokens: readonly (readonly TemplatePart[])[], end: readonly string[] = []): string {
  const isFixed = (token: readonly TemplatePart[]): boolean => token.every(({ kind }) => kind === "literal");
  return [...tokens.map((token) => isFixed(token) ? replacePlaceholders(token, "") : "*"), ...end].join(".");
}
