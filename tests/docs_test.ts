import assert from "node:assert/strict";

const read = (path: string): string => Deno.readTextFileSync(new URL(`../${path}`, import.meta.url));

Deno.test("docs/delivery.md says of every error code what to do", () => {
  const codes = [...read("src/errors/codes.ts").matchAll(/^\s+\| "([a-z]+\.[a-z_]+)"/gm)].map(([, code]) => code!);
  assert.ok(codes.length > 50, `${codes.length} codes`);
  const rows = read("docs/delivery.md").split("\n").filter((line) => /^\| `[a-z]+\.[a-z_]+`/.test(line));
  const told = rows.map((line) => line.split("|").map((cell) => cell.trim()));
  assert.deepEqual(told.map(([, code]) => code!.slice(1, -1)).sort(), [...new Set(codes)].sort());
  for (const [, code, what, remedy] of told) assert.ok(what !== "" && remedy !== "", code);
});

Deno.test("docs/delivery.md has no link into itself that leads nowhere", () => {
  const text = read("docs/delivery.md");
  const slugs = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^a-z0-9 _-]/g, "").replaceAll(" ", "-")
  );
  const links = [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, slug]) => slug!);
  assert.deepEqual(links.slice(0, slugs.length), slugs, "the contents");
  assert.deepEqual(links.filter((slug) => !slugs.includes(slug)), []);
});
