/**
 * Templates: texts in which `{resource}` or `{{resource}}` stands for the destination resource.
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
 * A template with the resource in place of each placeholder, in one pass: a resource called `{resource}` or `a$&b`
 * comes out as written.
 *
 * Throws a {@linkcode ConfigError} when the template has any other brace, and when the resource is empty. Whether the
 * result is a valid subject or stream name is for {@linkcode assertSubject} and {@linkcode assertStreamName}.
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
    throw new ConfigError("config.type", `template must be a text: received ${describe(template)}`, {
      field: "template",
    });
  }
  if (typeof resource !== "string" || resource === "") {
    throw new ConfigError(
      typeof resource === "string" ? "config.missing" : "config.type",
      `resource must be a text that is not empty: received ${describe(resource)}`,
      { field: "resource" },
    );
  }
  const fault = templateFault(template);
  if (fault !== undefined) {
    throw new ConfigError("config.syntax", `template ${fault}: received ${describe(template)}`, { field: "template" });
  }
  return replacePlaceholders(template, resource);
}

/** What is wrong with a template's braces, as the end of a sentence; undefined when nothing is. */
export function templateFault(template: string): string | undefined {
  return /[{}]/.test(replacePlaceholders(template, ""))
    ? "has a brace that is no part of {resource} or {{resource}}"
    : undefined;
}

/** A template with a text in place of each placeholder, unchecked. */
export function replacePlaceholders(template: string, text: string): string {
  return template.replace(PLACEHOLDER, () => text);
}
