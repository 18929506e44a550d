import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "../../src/errors/mod.ts";
import {
  expandTemplate,
  hasPlaceholder,
  replacePlaceholders,
  templateFault,
  templateParts,
} from "../../src/subject/template.ts";
import vectors from "../_testdata/vectors/subjects.json" with { type: "json" };

Deno.test("expandTemplate() returns the vectors' subjects", () => {
  for (const { template, resource, text } of vectors.expand) {
    assert.equal(expandTemplate(template, resource), text, template);
  }
});

Deno.test("expandTemplate() inserts any resource unchanged, once for each placeholder", () => {
  const piece = fc.oneof(
    fc.constantFrom("{resource}", "{{resource}}"),
    fc.string().map((text) => text.replace(/[{}]/g, "")),
  );
  fc.assert(fc.property(fc.array(piece), fc.string({ minLength: 1 }), (pieces, resource) => {
    const expected = pieces.map((text) => text.startsWith("{") ? resource : text).join("");
    assert.equal(expandTemplate(pieces.join(""), resource), expected);
    assert.equal(hasPlaceholder(pieces.join("")), pieces.some((text) => text.startsWith("{")));
  }));
});

for (
  const template of [
    "{",
    "}",
    "{}",
    "{{}}",
    "{table}",
    "{Resource}",
    "{ resource }",
    "{{resource}",
    "{resource}}",
    "{{{resource}}}",
    "a.{resource",
    "${resource}.}",
  ]
) {
  Deno.test(`expandTemplate() throws when the template is ${template}`, () => {
    assert.throws(() => expandTemplate(template, "orders"), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.code, "config.syntax");
      assert.equal(error.field, "template");
      assert.ok(error.message.includes(JSON.stringify(template)), error.message);
      return true;
    });
    assert.match(templateFault(template) ?? "", /brace/);
  });
}

Deno.test("expandTemplate() throws when the resource is empty or not a string", () => {
  for (
    const [resource, code, shown] of [["", "config.missing", '""'], [undefined, "config.type", "undefined"], [
      null,
      "config.type",
      "null",
    ]] as const
  ) {
    for (const template of ["events.{resource}", "events.all"]) {
      assert.throws(() => expandTemplate(template, resource as string), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.code, code);
        assert.equal(error.field, "resource");
        assert.ok(error.message.startsWith("resource ") && error.message.includes(shown), error.message);
        return true;
      });
    }
  }
  assert.throws(() => expandTemplate(null as unknown as string, "orders"), { code: "config.type", field: "template" });
});

Deno.test("hasPlaceholder() returns false when the braces contain something else", () => {
  for (const template of ["", "events.all", "{table}", "{ resource }", "resource"]) {
    assert.equal(hasPlaceholder(template), false, template);
  }
});

Deno.test("replacePlaceholders() leaves other braces unchanged", () => {
  assert.equal(replacePlaceholders(templateParts("{x}.{resource}.{row.y}"), "*"), "{x}.*.*");
});
