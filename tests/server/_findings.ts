import assert from "node:assert/strict";
import type { Finding, FindingCode } from "../../src/stream/checks/finding.ts";

/** The only finding of a code, and of a field if given; fails if there are several or none. */
export function theOne(findings: readonly Finding[], code: FindingCode, field?: string): Finding {
  const found = findings.filter((finding) => finding.code === code && (field === undefined || finding.field === field));
  assert.equal(found.length, 1, `${code} among ${findings.map((finding) => `${finding.code} (${finding.field})`)}`);
  return found[0]!;
}
