import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError, RouteError } from "../../src/errors/mod.ts";
import { captureFilter, resourceSubject, templatePattern } from "../../src/subject/capture.ts";
import { matchesSubject, overlapsSubject } from "../../src/subject/pattern.ts";
import { expandTemplate } from "../../src/subject/template.ts";
import vectors from "../_testdata/vectors/subjects.json" with { type: "json" };

const token = fc.constantFrom("a", "API", "$JS", "{resource}", "{{resource}}", "pre_{resource}", "{resource}_v1");
const subject = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join("."));
const resource = fc.constantFrom("orders", "a", "API", "$JS", "public");

for (const { stream, subject, resource, filter } of vectors.captureFilter) {
  Deno.test(`captureFilter() ${filter === null ? "throws a RouteError" : `returns ${filter}`} for ${stream} and ${subject}`, () => {
    if (filter !== null) return assert.equal(captureFilter({ stream, subject }, resource), filter);
    assert.throws(() => captureFilter({ stream, subject }, resource), (error) => {
      assert.ok(error instanceof RouteError);
      assert.equal(error.code, "route.create");
      assert.equal(error.stream, stream);
      assert.equal(error.resource, resource);
      assert.match(error.message, /Put a literal prefix before the placeholder/);
      assert.ok(error.message.includes(JSON.stringify(subject)) && error.message.includes(`"${error.subject}"`));
      return true;
    });
  });
}

Deno.test("captureFilter() captures the subject of every resource, and never JetStream's API", () => {
  fc.assert(fc.property(subject, resource, fc.boolean(), (subject, resource, shared) => {
    const template = { stream: shared ? "ALL" : "{resource}", subject };
    let filter: string;
    try {
      filter = captureFilter(template, resource);
    } catch (error) {
      assert.ok(error instanceof RouteError && error.code === "route.create");
      assert.ok(overlapsSubject(["$JS.API.>", "$JS.*.API.>"], error.subject!));
      return;
    }
    assert.ok(matchesSubject(filter, expandTemplate(subject, resource)), filter);
    assert.ok(!overlapsSubject(["$JS.API.>", "$JS.*.API.>"], filter), filter);
  }));
});

Deno.test("captureFilter() throws a ConfigError when a template has another brace, or a stream per resource has none", () => {
  for (const stream of ["ALL", "{resource}"]) {
    assert.throws(() => captureFilter({ stream, subject: "events.{table}" }, "orders"), ConfigError);
  }
  assert.throws(() => captureFilter({ stream: "{resource}", subject: "events.all" }, ""), {
    name: "ConfigError",
    field: "resource",
  });
});

Deno.test("templatePattern() has a * for each token with the placeholder, the last one too", () => {
  assert.equal(templatePattern("a.{resource}.pre_{{resource}}.b.{resource}"), "a.*.*.b.*");
  assert.equal(templatePattern("events.all"), "events.all");
  assert.throws(() => templatePattern("a.{b}"), { code: "config.syntax", field: "subject" });
});

Deno.test("captureFilter() has * for the token of a row's values, and > only for a resource in the last token", () => {
  const filters = [
    ["S", "a.{row.x}", "a.*"],
    ["S", "a.{resource}.{row.x}", "a.*.*"],
    ["S", "a.{row.x}.{resource}", "a.*.>"],
    ["S", "a.pre-{row.x}-{row.y|none}.b", "a.*.b"],
    ["S", "a.{row.x.y}.b", "a.*.b"], // the dot is part of the column's name
    ["S_{resource}", "a.{resource}.{row.x}", "a.orders.eu.*"],
  ] as const;
  for (const [stream, subject, filter] of filters) {
    assert.equal(captureFilter({ stream, subject }, "orders.eu"), filter, subject);
  }
});

Deno.test("resourceSubject() leaves placeholders of a row as written, whatever the resource is called", () => {
  const { written, pattern, parts } = resourceSubject("a.{resource}.{row.x|y}", "orders");
  assert.deepEqual([written, pattern, parts?.length], ["a.orders.{row.x|y}", "a.orders.*", 4]); // a., orders, a dot, the value
  const named = resourceSubject("a.{resource}", "{row.x}");
  assert.deepEqual(named, { written: "a.{row.x}", pattern: "a.{row.x}", parts: undefined });
  assert.throws(() => resourceSubject("a..{row.x}", "orders"), { code: "route.subject", subject: "a..{row.x}" });
});
