import assert from "node:assert/strict";
import fc from "fast-check";
import { coversPattern, intersectSubjects, matchesSubject, overlapsSubject } from "../../src/subject/pattern.ts";
import vectors from "../_testdata/vectors/subjects.json" with { type: "json" };

/** Every subject of one to four tokens over three words: one token and one word more than the patterns below use. */
const subjects: string[] = [];
for (let size = 1, row = [""]; size <= 4; size++) {
  row = row.flatMap((head) => ["a", "b", "c"].map((word) => head === "" ? word : `${head}.${word}`));
  subjects.push(...row);
}

/** Patterns of one to three tokens over two of the words. */
const pattern = fc.tuple(
  fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 2 }),
  fc.constantFrom("a", "b", "*", ">"),
).map(([head, last]) => [...head, last].join("."));

/** The definition of capturing, token by token. */
function captures(filter: readonly string[], subject: readonly string[]): boolean {
  const [wanted, ...filters] = filter;
  const [token, ...tokens] = subject;
  if (wanted === undefined || token === undefined) return wanted === token;
  if (wanted === ">") return true;
  return (wanted === "*" || wanted === token) && captures(filters, tokens);
}

Deno.test("matchesSubject() returns the vectors' values", () => {
  for (const { filter, subject, match } of vectors.match) {
    assert.equal(matchesSubject(filter, subject), match, `${filter} ${subject}`);
  }
});

Deno.test("matchesSubject() agrees with the definition", () => {
  fc.assert(fc.property(pattern, (filter) => {
    for (const subject of subjects) {
      assert.equal(matchesSubject(filter, subject), captures(filter.split("."), subject.split(".")));
    }
  }));
});

Deno.test("matchesSubject() treats wildcards inside a longer token, and in the subject, as literals", () => {
  assert.equal(matchesSubject("a*.b", "a*.b"), true);
  assert.equal(matchesSubject("a*.b", "ax.b"), false);
  assert.equal(matchesSubject("a.b", "a.*"), false);
  assert.equal(matchesSubject("a.*", "a.>"), true);
});

Deno.test("matchesSubject() returns false when the filter or the subject is malformed", () => {
  for (const filter of ["", ".", "a.", ".a", "a..b", ">.a", "a.>.b"]) {
    assert.equal(matchesSubject(filter, "a"), false, filter);
    assert.equal(matchesSubject(filter, filter), false, filter);
  }
  for (const subject of ["", "a.", ".a", "a..b"]) assert.equal(matchesSubject(">", subject), false, subject);
});

Deno.test("intersectSubjects() returns the filter of exactly the subjects that both capture", () => {
  fc.assert(fc.property(pattern, pattern, (a, b) => {
    const shared = subjects.filter((subject) => matchesSubject(a, subject) && matchesSubject(b, subject));
    const both = intersectSubjects(a, b);
    assert.equal(both !== undefined, shared.length > 0, `${a} ${b}`);
    assert.deepEqual(both === undefined ? [] : subjects.filter((subject) => matchesSubject(both, subject)), shared);
    assert.equal(both, intersectSubjects(b, a));
    assert.equal(intersectSubjects(a, a), a);
  }));
});

Deno.test("intersectSubjects() returns undefined when a filter is malformed", () => {
  for (const filter of ["", "a.", ".a", "a..b", ">.a", "a.>.b"]) {
    assert.equal(intersectSubjects(filter, ">"), undefined, filter);
    assert.equal(intersectSubjects(">", filter), undefined, filter);
    assert.equal(intersectSubjects(filter, filter), undefined, filter);
  }
});

Deno.test("overlapsSubject() returns the vectors' values", () => {
  for (const { a, b, overlap } of vectors.overlap) {
    assert.equal(overlapsSubject([a], b), overlap, `${a} ${b}`);
    assert.equal(overlapsSubject([b], a), overlap, `${b} ${a}`);
  }
});

Deno.test("overlapsSubject() returns true when any filter overlaps, and false without filters", () => {
  assert.equal(overlapsSubject([], ">"), false);
  assert.equal(overlapsSubject(["a.b", "b.*"], "*.c"), true);
  assert.equal(overlapsSubject(["a.b", "b.a"], "*.c"), false);
});

Deno.test("coversPattern() is true of a filter that captures every subject of the pattern", () => {
  fc.assert(fc.property(pattern, pattern, (filter, wanted) => {
    const isCovered = subjects.every((subject) => !matchesSubject(wanted, subject) || matchesSubject(filter, subject));
    assert.equal(coversPattern([filter], wanted), isCovered);
    assert.equal(coversPattern(["c", filter], wanted), isCovered);
  }));
  assert.equal(coversPattern([], "a.*"), false);
});
