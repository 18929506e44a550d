/**
 * Templates: strings in which `{resource}` or `{{resource}}` stands for the destination resource, and `{row.NAME}` in a
 * subject or a header for the row's value in a column.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";

/** The longer form first, so that its inner braces are not taken for the shorter one. */
const PLACEHOLDER = /\{\{resource\}\}|\{resource\}|\{row\.(?<column>[^}|]+)(?:\|(?<fallback>[^}]*))?\}/g;

/** A part of a template. `written` is the part as the template has it. */
export type TemplatePart =
  | { readonly kind: "literal"; readonly written: string }
  | { readonly kind: "resource"; readonly written: string }
  | RowPlaceholder;

/** The placeholder of a row's value. */
export interface RowPlaceholder {
  readonly kind: "row";
  readonly written: string;
  /** The column's name: all characters up to the next `}` or `|`. */
  readonly column: string;
  /** What stands for null and for an empty string, if the template gives it. */
  readonly fallback: string | undefined;
}

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
  return templateParts(template).some(({ kind }) => kind === "resource");
}

/**
 * Replaces each placeholder of the resource in a template, in one pass: a resource called `{resource}` or `a$&b` comes
 * out as written. Placeholders of a row's values (`{row.NAME}`) stay as they are: the result is the subject that
 * {@linkcode messageIdentity} takes. {@linkcode assertSubject} and {@linkcode assertStreamName} check a result without
 * them.
 *
 * @throws {ConfigError} If the template has any other brace, or if the resource is empty.
 *
 * @example
 * ```ts
 * import { expandTemplate } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.equal(expandTemplate("events.{resource}", "orders"), "events.orders");
 * assert.equal(expandTemplate("{resource}.{row.region}", "orders"), "orders.{row.region}");
 * assert.throws(() => expandTemplate("events.{table}", "orders"), { code: "config.syntax" });
 * ```
 */
export function expandTemplate(template: string, resource: string): string {
  return expandParts(template, resource).map(({ written }) => written).join("");
}

/** Returns the parts of a template with the resource as a literal. Throws as {@linkcode expandTemplate} does. */
export function expandParts(template: string, resource: string): readonly TemplatePart[] {
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
  return templateParts(template).map((part) =>
    part.kind === "resource" ? { kind: "literal", written: resource } as const : part
  );
}

/** Returns the rule that a template's braces break, or undefined. */
export function templateFault(template: string, columnsAllowed = true): string | undefined {
  const braced = templateParts(template).find(({ kind, written }) => kind === "literal" && /[{}]/.test(written));
  if (braced === undefined) return undefined;
  if (!columnsAllowed) return "must not contain braces other than {resource}";
  const [, column] = /\{(?!rows?\b)([^{}.|]+)\}/.exec(braced.written) ?? [];
  const fix = column === undefined ? "" : `. Write {row.${column}} for the column ${describe(column)}`;
  return `must not contain braces other than {resource} and {row.NAME}${fix}`;
}

/** Returns the parts of a template in order. A brace that is not part of a placeholder is in a literal part. */
export function templateParts(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [written] = match;
    if (match.index > end) parts.push({ kind: "literal", written: template.slice(end, match.index) });
    const { column, fallback } = match.groups!;
    parts.push(column === undefined ? { kind: "resource", written } : { kind: "row", written, column, fallback });
    end = match.index + written.length;
  }
  if (end < template.length) parts.push({ kind: "literal", written: template.slice(end) });
  return parts;
}

/** Returns the placeholders of a row's values in a template, in order. */
export function rowPlaceholders(template: string): readonly RowPlaceholder[] {
  return templateParts(template).filter((part) => part.kind === "row");
}

/** Returns a template with a string for each placeholder, without a check. */
export function replacePlaceholders(parts: readonly TemplatePart[], value: string): string {
  return parts.map(({ kind, written }) => kind === "literal" ? written : value).join("");
}
