/**
 * The algebra of NATS subjects and filters: `*` is any one token, a last `>` is one token or more. Wildcards are whole
 * tokens; a `*` or `>` inside a longer one is a character like any other.
 *
 * @module
 */

/**
 * Whether a filter captures a subject. The subject is taken literally. What is not a filter (an empty token, a `>` before
 * the end) captures nothing.
 *
 * @example
 * ```ts
 * import { matchesSubject } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.ok(matchesSubject("events.>", "events.orders.v2"));
 * assert.ok(!matchesSubject("events.>", "events"));
 * assert.ok(!matchesSubject("events.*", "events.orders.v2"));
 * ```
 */
export function matchesSubject(filter: string, subject: string): boolean {
  const wanted = tokensOf(filter);
  const given = subject.split(".");
  if (wanted === undefined || given.includes("")) return false;
  const open = wanted.at(-1) === ">";
  const fixed = open ? wanted.length - 1 : wanted.length;
  if (open ? given.length <= fixed : given.length !== fixed) return false;
  for (let i = 0; i < fixed; i++) {
    if (wanted[i] !== "*" && wanted[i] !== given[i]) return false;
  }
  return true;
}

/**
 * The filter of exactly the subjects that two filters share; undefined when they share none.
 *
 * @example
 * ```ts
 * import { intersectSubjects } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.equal(intersectSubjects("*.orders.>", "warehouse.>"), "warehouse.orders.>");
 * assert.equal(intersectSubjects("events.*", "orders.*"), undefined);
 * ```
 */
export function intersectSubjects(a: string, b: string): string | undefined {
  const left = tokensOf(a);
  const right = tokensOf(b);
  if (left === undefined || right === undefined) return undefined;
  const shared: string[] = [];
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] === ">") return [...shared, ...right.slice(i)].join(".");
    if (right[i] === ">") return [...shared, ...left.slice(i)].join(".");
    const token = sharedToken(left[i]!, right[i]!);
    if (token === undefined) return undefined;
    shared.push(token);
  }
  return left.length === right.length ? shared.join(".") : undefined;
}

/**
 * Whether some filter and the pattern share a subject.
 *
 * @example
 * ```ts
 * import { overlapsSubject } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.ok(overlapsSubject(["orders.>", "events.*"], "events.orders"));
 * assert.ok(!overlapsSubject(["warehouse.public.>"], "warehouse.*"));
 * ```
 */
export function overlapsSubject(filters: readonly string[], pattern: string): boolean {
  return filters.some((filter) => intersectSubjects(filter, pattern) !== undefined);
}

/** Whether one of the filters captures every subject that a pattern captures. */
export function coversPattern(filters: readonly string[], pattern: string): boolean {
  return filters.some((filter) => intersectSubjects(filter, pattern) === pattern);
}

/** The tokens of a filter; undefined when a token is empty or a `>` is not the last. */
function tokensOf(filter: string): readonly string[] | undefined {
  const tokens = filter.split(".");
  const everything = tokens.indexOf(">");
  if (tokens.includes("") || (everything >= 0 && everything < tokens.length - 1)) return undefined;
  return tokens;
}

function sharedToken(a: string, b: string): string | undefined {
  if (a === "*") return b;
  return b === "*" || a === b ? a : undefined;
}
