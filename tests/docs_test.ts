import assert from "node:assert/strict";
import { TypeId } from "../src/arrow/type_id.ts";
import { CONNECTION_OPTIONS } from "../src/cli/options/table.ts";
import { PUBLISHER_OPTIONS } from "../src/cli/options/publisher_table.ts";
import { headerBlock } from "../src/message/headers.ts";
import { OPTION_KEYS, resolveOptions } from "../src/options/publisher.ts";

const root = new URL("../", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, root));

/** Pages that begin with a list of their sections. */
const LISTED = ["docs/delivery.md", "docs/guide.md", "docs/messages.md", "docs/recipes.md"];

const pages = ["README.md", "CONTRIBUTING.md", "examples/README.md"];
for (const { name } of Deno.readDirSync(new URL("docs/", root))) if (name.endsWith(".md")) pages.push(`docs/${name}`);

const slugsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^##+ (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^a-z0-9 _-]/g, "").replaceAll(" ", "-")
  );

Deno.test("docs/delivery.md says for every error code what to do", () => {
  const codes = [...read("src/errors/codes.ts").matchAll(/^\s+\| "([a-z]+\.[a-z_]+)"/gm)].map(([, code]) => code!);
  assert.ok(codes.length > 50, `${codes.length} codes`);
  const rows = read("docs/delivery.md").split("\n").filter((line) => /^\| `[a-z]+\.[a-z_]+`/.test(line));
  const told = rows.map((line) => line.split("|").map((cell) => cell.trim()));
  assert.deepEqual(told.map(([, code]) => code!.slice(1, -1)).sort(), [...new Set(codes)].sort());
  for (const [, code, what, remedy] of told) assert.ok(what !== "" && remedy !== "", code);
});

Deno.test("docs/findings.md lists exactly the findings of the source, with their severities", () => {
  const codes = [...read("src/stream/checks/finding.ts").matchAll(/^ {2}\| "([a-z]+\.[a-z_]+)"/gm)].map(([, code]) =>
    code!
  );
  assert.ok(codes.length > 50, `${codes.length} codes`);
  const severities: Record<string, string> = { refusal: "error", warning: "warning", note: "info" };
  const expected = new Map(codes.map((code) => [code, new Set<string>()]));
  for (const { name } of Deno.readDirSync(new URL("src/stream/checks/", root))) {
    const made = read(`src/stream/checks/${name}`).matchAll(/\b(refusal|warning|note)\(\s*"([a-z]+\.[a-z_]+)"/g);
    for (const [, kind, code] of made) expected.get(code!)!.add(severities[kind!]!);
  }
  const rows = [...read("docs/findings.md").matchAll(/^\| `([a-z]+\.[a-z_]+)` +\| ([a-z, ]+?) +\| (.*?) +\|$/gm)];
  const listed = rows.map(([, code, severity]) => `${code}: ${severity!.split(", ").sort().join(", ")}`);
  assert.deepEqual(
    listed.sort(),
    [...expected].map(([code, kinds]) => `${code}: ${[...kinds].sort().join(", ")}`).sort(),
  );
  for (const [, code, , meaning] of rows) assert.notEqual(meaning, "", code);
});

Deno.test("every page but README.md begins with the question that it answers", () => {
  for (const page of pages.filter((page) => page !== "README.md")) {
    const [title, paragraph] = read(page).split("\n\n");
    assert.match(`${title} ${paragraph}`, /\?/, page);
  }
});

Deno.test("README.md links to every page", () => {
  const text = read("README.md");
  assert.deepEqual(pages.filter((page) => page !== "README.md" && !text.includes(`](${page})`)), []);
});

/** The first cell of each row of a table, option names without backticks, and the second. */
const defaultsIn = (page: string): ReadonlyMap<string, string> => {
  const rows = read(page).matchAll(/^\| (`[^|]*?`) +\| +([^|]*?) +\|/gm);
  return new Map([...rows].map(([, name, byDefault]) => [name!.replaceAll("`", ""), byDefault!.replaceAll("`", "")]));
};

Deno.test("docs/options.md has every option", () => {
  const text = read("docs/options.md");
  assert.deepEqual(OPTION_KEYS.camel.filter((option) => !text.includes(`\`${option}\``)), []);
});

Deno.test("docs/options.md, docs/cli.md and --help state the defaults of the source", () => {
  const settings = resolveOptions({ stream: "S", subject: "s" });
  const [page, cli] = [defaultsIn("docs/options.md"), defaultsIn("docs/cli.md")];
  const help = new Map([...PUBLISHER_OPTIONS, ...CONNECTION_OPTIONS].map(({ name, byDefault }) => [name, byDefault]));
  const {
    createStream,
    publishTimeout,
    maxInFlight,
    maxInFlightBytes,
    eventIdColumns,
    expectedStream,
    publishMode,
    subjectEscape,
  } = settings;
  const flag = (value: boolean): string => value ? "yes" : "no";
  for (
    const [option, written, onCommandLine] of [
      ["createStream", `${createStream}`, flag(createStream)],
      ["expectedStream", `${expectedStream}`, flag(expectedStream)],
      ["publishTimeout", `${publishTimeout / 1000}s`, `${publishTimeout / 1000}s`],
      ["maxInFlight", `${maxInFlight}`, `${maxInFlight}`],
      ["maxInFlightBytes", `${maxInFlightBytes / 2 ** 20} MiB`, `${maxInFlightBytes}`],
      ["eventIdColumn", eventIdColumns[0]!, `${eventIdColumns[0]}, if present`],
      ["subjectEscape", subjectEscape, `${subjectEscape}: the row is refused`],
      ["publishMode", publishMode, publishMode],
    ] as const
  ) {
    const flagName = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    assert.equal(page.get(option), written, option);
    assert.equal(help.get(flagName), onCommandLine, `--${flagName}`);
    assert.equal(cli.get(`--${flagName}`), onCommandLine, `docs/cli.md: --${flagName}`);
  }
});

for (const page of LISTED) {
  Deno.test(`${page} begins with a list of its sections`, () => {
    const text = read(page);
    const slugs = slugsOf(text);
    const links = [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, slug]) => slug!);
    assert.ok(slugs.length > 5, `${slugs.length} sections`);
    assert.deepEqual(links.slice(0, slugs.length), slugs);
  });
}

Deno.test("every link to a file of the repository leads to an existing file", () => {
  const broken: string[] = [];
  let followed = 0;
  for (const page of pages) {
    for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)]*)\)/g)) {
      const [path, slug] = link!.split("#");
      const target = path === "" ? page : new URL(path!, new URL(page, root)).href.slice(root.href.length);
      followed++;
      if (!exists(target) || (slug !== undefined && !slugsOf(read(target)).includes(slug))) {
        broken.push(`${page}: ${link}`);
      }
    }
  }
  assert.ok(followed > 20, `${followed} links`);
  assert.deepEqual(broken, []);
});

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(path, root));
    return true;
  } catch {
    return false;
  }
}

Deno.test("docs/messages.md has every Arrow type", () => {
  const table = read("docs/messages.md").split("## Each Arrow type")[1]!.split("\n## ")[0]!;
  const names = [...table.matchAll(/^\| ([^|]*)\|/gm)].map(([, cell]) => cell!).join(" ");
  assert.deepEqual(Object.keys(TypeId).filter((name) => !new RegExp(`\\b${name}(\\d+)?\\b`).test(names)), []);
});

Deno.test("docs/messages.md lists the headers in order", () => {
  const rows = read("docs/messages.md").split("## Headers")[1]!.split("\n## ")[0]!.matchAll(/^\| (\S[^|]*?) +\|/gm);
  const headers = [["your own headers", "x"]] as const;
  const { bytes } = headerBlock({ operation: "insert", expectedStream: "S", ttl: "1", headers, withId: true });
  const names = [...new TextDecoder().decode(bytes).matchAll(/^([^:\r\n]+):/gm)].map(([, name]) => name);
  assert.equal(names.length, 6);
  assert.deepEqual([...rows].map(([, cell]) => cell!.replaceAll("`", "")).slice(2), names); // without the heading and its line
});
