/**
 * Templates, subjects and stream names alone: nothing here needs NATS or Arrow.
 *
 * ```ts
 * import { captureFilter, expandTemplate } from "@jetrow/jetrow/subject";
 * import assert from "node:assert/strict";
 *
 * assert.equal(expandTemplate("events.{resource}", "orders"), "events.orders");
 * assert.equal(captureFilter({ stream: "EVENTS", subject: "events.{resource}" }, "orders"), "events.>");
 * ```
 *
 * @module
 */

export { captureFilter, type DestinationTemplate } from "./capture.ts";
export { assertStreamName, assertSubject } from "./name.ts";
export { intersectSubjects, matchesSubject, overlapsSubject } from "./pattern.ts";
export { expandTemplate, hasPlaceholder } from "./template.ts";
