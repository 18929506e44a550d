/**
 * Templates: strings in which `{resource}` or `{{resource}}` stands for the destination resource.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";

/** The longer form first, so that its inner braces are not taken for the shorter one. */
const PLACEHOLDER = /\{\{resource\}\}|\{resource\}/g;

/**
 * Whether a template names the resource.
 *
 * @example
 * ```ts
 * import { hasPlaceholder } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.ok(hasPlaceholder("events.{resource}"));
 * assert.ok(hasPlaceholder("events.{{resource}}"));
 * assert.ok(!hasPlaceholder("events.all"));
 * ```
 */
export function hasPlaceholder(template: string): boolean {
  return template.search(PLACEHOLDER) >= 0;
}

/**
 * Replaces each placeholder of a template by the resource, in one pass: a resource called `{resource}` or `a$&b` comes
 * out as written. {@linkcode assertSubject} and {@linkcode assertStreamName} check the result.
 *
 * @throws {ConfigError} If the template has any other brace, or if the resource is empty.
 *
 * @example
 * ```ts
 * import { expandTemplate } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.equal(expandTemplate("events.{resource}", "orders"), "events.orders");
 * assert.throws(() => expandTemplate("events.{table}", "orders"), { code: "config.syntax" });
 * ```
 */
export function expandTemplate(template: string, resource: string): string {
  if (typeof template !== "string") {
    throw new ConfigError("config.type", {
      field: "template",
      rule: "must be a string",
      received: describe(template),
    });
  }
  if (typeof resource !== "string" || resource === "") {
    throw new ConfigError(typeof resource === "string" ? "config.missing" : "config.type", {
      field: "resource",
      rule: "must be a non-empty string",
      received: describe(resource),
    });
  }
  const fault = templateFault(template);
  if (fault !== undefined) {
    throw new ConfigError("config.syntax", { field: "template", rule: fault, received: describe(template) });
  }
  return replacePlaceholders(template, resource);
}

/** Returns the rule that a template's braces break, or undefined. */
export function templateFault(template: string): string | undefined {
  return /[{}]/.test(replacePlaceholders(template, ""))
    ? "must not contain braces other than {resource} or {{resource}}"
    : undefined;
}

/** Replaces each placeholder of a template by a string, without a check. */
export function replacePlaceholders(template: string, text: string): string {
  return template.replace(PLACEHOLDER, () => text);
}
