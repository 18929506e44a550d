import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tableToIPC } from "apache-arrow";
import { VERSION } from "../../src/cli/version.ts";
import { Files } from "./_files.ts";
import { jetrow, ROOT, type RunOptions } from "./_io.ts";

const SECRET = "s3cr3t-9x2k";
const DESTINATION = ["--url", "nats://127.0.0.1:1", "--stream", "ORDERS", "--subject", "orders.{resource}"];

/** Asserts a usage error: exit code 2, nothing on standard output, a message, and no secret. */
async function wrong(args: readonly string[], message: RegExp, options: RunOptions = {}): Promise<void> {
  const { exitCode, out, err } = await jetrow(args, options);
  assert.equal(exitCode, 2, err);
  assert.equal(out, "");
  assert.match(err, message);
  assert.match(err, /^jetrow: [^\n]*\n$/);
  assert.ok(!err.includes(SECRET), err);
}

async function withFile<T>(name: string, content: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "jetrow-usage-"));
  try {
    const path = join(folder, name);
    writeFileSync(path, content);
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

Deno.test("--version prints the package's version", async () => {
  assert.equal(JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")).version, VERSION);
  for (const flag of ["--version", "-V"]) {
    assert.deepEqual(await jetrow([flag]), { exitCode: 0, out: `${VERSION}\n`, err: "" });
  }
});

Deno.test("--help lists every option with its default and variable", async () => {
  const short = await jetrow(["--help"]);
  assert.equal(short.exitCode, 0);
  assert.match(short.out, /jetrow publish FILE/);
  assert.deepEqual(
    await jetrow([]),
    { exitCode: 2, out: "", err: short.out },
    "without a command there is nothing to do",
  );
  const { exitCode, out, err } = await jetrow(["publish", "--help"]);
  assert.deepEqual(await jetrow(["publish", "-h"]), { exitCode, out, err });
  assert.deepEqual({ exitCode, err }, { exitCode: 0, err: "" });
  assert.match(out, /--max-in-flight ROWS\n +.*\[default: 1024; env: JETROW_MAX_IN_FLIGHT\]/);
  assert.match(out, /--create-stream, --no-create-stream\n +.*\[default: yes; env: JETROW_CREATE_STREAM\]/);
  for (const name of ["JETROW_PASSWORD", "JETROW_TOKEN", "JETROW_JWT", "JETROW_NKEY_SEED"]) {
    assert.ok(out.includes(name));
  }
  for (const line of out.split("\n")) assert.ok(line.length <= 120, line);
});

Deno.test("docs/cli.md lists exactly the options of the command", async () => {
  const text = readFileSync(join(ROOT, "docs/cli.md"), "utf8");
  const helps = await Promise.all(["publish", "check", "verify"].map((command) => jetrow([command, "--help"])));
  const names = new Set(
    helps.flatMap(({ out }) => [...out.matchAll(/^ {2}(--[a-z][a-z0-9-]+)/gm)].map(([, name]) => name!)),
  );
  const named = new Set([...text.matchAll(/--[a-z][a-z0-9-]+/g)].map(([name]) => name.replace(/^--no-/, "--")));
  assert.deepEqual([...names].filter((name) => !named.has(name)), []);
  assert.deepEqual([...named].filter((name) => !names.has(name) && name !== "--version"), []);
});

Deno.test("each command's help lists an environment variable for every option", async () => {
  for (const command of ["publish", "check", "verify"]) {
    const { exitCode, out } = await jetrow([command, "--help"]);
    assert.equal(exitCode, 0);
    const entries = out.split(/\n(?= {2}--)/).slice(1);
    assert.ok(entries.length > 12, command);
    for (const entry of entries) {
      const [, name] = /--([a-z][a-z0-9-]+)/.exec(entry)!;
      const variable = `JETROW_${name!.toUpperCase().replaceAll("-", "_")}`;
      if (name !== "help") assert.match(entry, new RegExp(`\\[(?:[^\\]]*; )?env: ${variable}\\]`), entry);
    }
  }
});

Deno.test("jetrow names the flag, the variable or the key of a wrong form of values", async () => {
  const args = ["publish", "f.arrow", ...DESTINATION];
  const words = "must be one of number, string, safe: received";
  await wrong([...args, "--json-int64", "text"], new RegExp(`--json-int64 ${words} "text"`));
  await wrong(args, new RegExp(`JETROW_JSON_INT64 ${words} "text"`), { env: { JETROW_JSON_INT64: "text" } });
  await wrong(
    [...args, "--json-nonfinite", "null"],
    /unknown option --json-nonfinite: did you mean --json-non-finite\?/,
  );
  for (
    const [json, message] of [
      [{ int64: "text" }, /json\.int64 must be one of number, string, safe \(in --config .*\): received "text"/],
      [{ int46: "string" }, /Unknown option "json\.int46": did you mean "json\.int64"\?/],
      [{ nonFinite: "null" }, /Unknown option "json\.nonFinite": did you mean "json\.non_finite"\?/],
      [{ columns: { price: { decimal: 1 } } }, /json\.columns\.price\.decimal must be one of number, string/],
      [5, /json must be a plain object .*: received 5/],
    ] as const
  ) {
    await withFile("c.json", JSON.stringify({ json }), (path) => wrong([...args, "--config", path], message));
  }
  await withFile(
    "c.json",
    JSON.stringify({ json: 5 }),
    (path) => wrong([...args, "--config", path, "--json-int64", "safe"], /json must be/),
  );
});

Deno.test("unknown commands and options are refused, with the nearest name", async () => {
  await wrong(["pubish"], /unknown command "pubish"/);
  await wrong(["publish"], /needs a FILE/);
  await wrong(
    ["publish", "--sream", "x", "f.arrow"],
    /unknown option --sream: did you mean --stream\? --help lists the options\n/,
  );
  await wrong(["publish", `--pasword=${SECRET}`], /unknown option --pasword: did you mean/);
  for (
    const [name, meant] of [
      ["server", "url"],
      ["user", "username"],
      ["tlsca", "tls-ca"],
      ["tlscert", "tls-cert"],
      ["tlskey", "tls-key"],
      ["tlsfirst", "tls-handshake-first"],
      ["js-domain", "domain"],
      ["connection-name", "name"],
    ]
  ) {
    await wrong(
      ["publish", "f.arrow", `--${name}`, "x"],
      new RegExp(`unknown option --${name}: did you mean --${meant}\\?`),
    );
  }
  await wrong(["publish", "f.arrow", "--stream"], /--stream needs a value/);
  await wrong(["publish", "f.arrow", "--stream", "--subject", "x"], /--stream needs a value/);
  await wrong(["publish", "f.arrow", "--stream", "A", "--stream", "B"], /--stream is given twice/);
  await wrong(["publish", "f.arrow", "--dry-run=yes"], /--dry-run takes no value/);
  await wrong(
    ["publish", "f.arrow", "--progress", "loud", ...DESTINATION],
    /--progress must be one of auto, plain, none: received "loud"/,
  );
  await wrong(
    ["publish", "f.arrow", "--operation", "upsert", ...DESTINATION],
    /--operation must be one of insert, update, delete/,
  );
  await wrong(["publish", "-", "-", "--resource", "x", ...DESTINATION], /- can be given once/);
  await wrong(["publish", "f.arrow", "", ...DESTINATION], /a FILE has an empty name/);
  await wrong(["publish", "f.arrow", "--resource=", ...DESTINATION], /^jetrow: --resource must not be empty/);
  await wrong(["publish", "-x.arrow", ...DESTINATION], /unknown option -x: .* after --\n/);
  await wrong(["publish", "-", ...DESTINATION], /--resource is required: standard input has no name/);
  await wrong(["publish", "/dev/fd/63", ...DESTINATION], /--resource is required: \/dev\/fd\/63/);
  for (const value of ["0", "-1", "1.5", "many"]) {
    await wrong(
      ["publish", "f.arrow", `--batch-rows=${value}`, ...DESTINATION],
      /--batch-rows must be a whole number of at least 1/,
    );
  }
});

Deno.test("a wrong value of a variable is reported with the variable's name", async () => {
  const args = ["publish", "f.arrow", ...DESTINATION];
  for (
    const [name, value, words] of [
      ["BATCH_ROWS", "x", / must be a whole number of at least 1: received "x"/],
      ["PROGRESS", "x", / must be one of auto, plain, none/],
      ["RETRY", "x", / must be a positive duration/],
      ["CONFIG", "/no/such", / \/no\/such cannot be read: no such file/],
      ["CREDS", "/no/such", / \/no\/such cannot be read: no such file/],
      ["TLS_CA", "/no/such", / \/no\/such cannot be read: no such file/],
      ["HEADER", "x", / must be 'Name: value'/],
      ["DRY_RUN", "x", / must be true or false/],
    ] as const
  ) {
    await wrong(args, new RegExp(`JETROW_${name}${words.source}`), { env: { [`JETROW_${name}`]: value } });
  }
  const env = { JETROW_RECEIPT: "a" };
  await wrong([...args, "--resume", "b"], /^jetrow: JETROW_RECEIPT begins a journal, --resume continues/, { env });
});

Deno.test("a misspelt variable causes a warning without its value", async () => {
  const env = { JETROW_STREM: "a", JETROW_PASSWROD: SECRET, JETROW_KEEP_LOGS: "1", JETROW_RECEIPT: "b", OTHER: "c" };
  const { err } = await jetrow(["check", "--help"], { env });
  assert.equal(
    err,
    "jetrow: JETROW_STREM is not used: did you mean JETROW_STREAM?\n" +
      "jetrow: JETROW_PASSWROD is not used: did you mean JETROW_PASSWORD?\n",
  );
});

Deno.test("credentials are refused on the command line", async () => {
  for (
    const [name, variable] of [
      ["password", "JETROW_PASSWORD"],
      ["token", "JETROW_TOKEN"],
      ["jwt", "JETROW_JWT"],
      ["nkey-seed", "JETROW_NKEY_SEED"],
      ["seed", "JETROW_NKEY_SEED"],
    ]
  ) {
    for (const args of [[`--${name}=${SECRET}`], [`--${name}`, SECRET]]) {
      await wrong(["publish", "f.arrow", ...DESTINATION, ...args], new RegExp(`Set ${variable}`));
    }
  }
  await wrong(
    ["publish", "f.arrow", "--url", `nats://me:${SECRET}@127.0.0.1:4222`, "--stream", "S", "--subject", "s"],
    /--url .*Set an auth mode/,
  );
});

Deno.test("a wrong option is named as it was written", async () => {
  const publish = (...args: string[]) => ["publish", "f.arrow", "--stream", "S", "--subject", "s", ...args];
  const url = ["--url", "nats://127.0.0.1:1"];
  await wrong(publish(), /^jetrow: config\.\w+: --url is required/);
  await wrong(["publish", "f.arrow", ...url, "--subject", "s"], /^jetrow: config\.\w+: --stream is required/);
  await wrong(publish(...url, "--max-in-flight", "0"), /^jetrow: config\.\w+: --max-in-flight must be .*received 0/);
  await wrong(
    publish(...url, "--max-in-flight", "many"),
    /^jetrow: config\.\w+: --max-in-flight must be .*received "many"/,
  );
  await wrong(
    publish(...url, "--publish-timeout", "5"),
    /^jetrow: config\.\w+: --publish-timeout must be .*received "5"/,
  );
  await wrong(publish(...url, "--header", "nothing"), /--header must be 'Name: value'/);
  await wrong(
    publish(...url, "--header", "X-Resource: {resource}"),
    /^jetrow: config\.syntax: --header must have values without braces other than \{row\.NAME\}: received "\{resource\}"/,
  );
  await wrong(
    publish(...url, "--header", "Nats-TTL: 5"),
    /^jetrow: config\.\w+: --header must not have names .*: received "Nats-TTL"/,
  );
  await wrong(publish("--url", "http://x"), /^jetrow: config\.\w+: --url must begin with/);
  await wrong(publish("--url", "nats://a", "--url", "ws://b"), /^jetrow: config\.\w+: --url must not mix/);
  await wrong(publish(...url), /create_stream|true or false/, { env: { JETROW_CREATE_STREAM: "maybe" } });
  await wrong(publish(...url), /^jetrow: config\.\w+: --username is required by auth_mode user_password/, {
    env: { JETROW_PASSWORD: SECRET },
  });
  await wrong(
    publish(...url, "--username", "me"),
    /^jetrow: config\.\w+: JETROW_PASSWORD is required by auth_mode user_password/,
  );
  await wrong(["publish", "f.arrow", ...url, "--subject", "s"], /^jetrow: config\.\w+: JETROW_STREAM must/, {
    env: { JETROW_STREAM: "A.B" },
  });
  await wrong(publish(...url, "--auth-mode", "none"), /^jetrow: config\.\w+: JETROW_TOKEN requires/, {
    env: { JETROW_TOKEN: SECRET },
  });
  await wrong(publish(...url), /^jetrow: config\.\w+: JETROW_NKEY_SEED must be a user seed/, {
    env: { JETROW_JWT: "e.y.J", JETROW_NKEY_SEED: SECRET },
  });
});

Deno.test("a configuration that is not valid JSON is reported by line and column, without its content", async () => {
  await withFile("jetrow.json", `{\n  "token": "${SECRET}\n}\n`, async (path) => {
    await wrong(
      ["publish", "f.arrow", "--config", path],
      new RegExp(`jetrow.json is not valid JSON: line 2, column ${13 + SECRET.length}\n`),
    );
  });
  await withFile(
    "jetrow.json",
    `{"token": "${SECRET}", "tokn": "${SECRET}", "stream": "S", "subject": "s"}`,
    async (path) => {
      await wrong(["publish", "f.arrow", ...DESTINATION.slice(0, 2), "--config", path], /tokn.*token/);
    },
  );
  await withFile("jetrow.json", `["${SECRET}"]`, async (path) => {
    await wrong(["publish", "f.arrow", "--config", path], /must hold a JSON object/);
  });
  await wrong(["publish", "f.arrow", "--config", "/no/such.json"], /\/no\/such.json cannot be read: no such file\n/);
  await wrong(["publish", "f.arrow", "--config", ROOT], /cannot be read: it is a directory\n/);
});

Deno.test("an option that a configuration cannot hold is refused, and the message says how to give it", async () => {
  for (
    const [key, words] of [
      ["resource", /has "resource", which is not a key of the document: use --resource or JETROW_RESOURCE\n/],
      ["batch_rows", /use --batch-rows or JETROW_BATCH_ROWS\n/],
      ["creds", /use --creds or JETROW_CREDS\n/],
    ] as const
  ) {
    await withFile("jetrow.json", `{"${key}": "${SECRET}"}`, async (path) => {
      await wrong(["publish", "f.arrow", ...DESTINATION, "--config", path], words);
    });
  }
  await withFile("jetrow.json", '{"tls": {"ca": 5}}', async (path) => {
    await wrong(
      ["publish", "f.arrow", ...DESTINATION, "--config", path],
      /^jetrow: config\.type: tls\.ca must be .* \(in --config .*jetrow\.json\)/,
    );
    await wrong(["publish", "f.arrow", ...DESTINATION, "--tls-cert", path], /^jetrow: config\.missing: --tls-key is/);
  });
  await withFile("empty.pem", "", async (path) => {
    await wrong(["publish", "f.arrow", ...DESTINATION, "--tls-ca", path], /^jetrow: config\.\w+: --tls-ca must/);
  });
});

Deno.test("a wrong value in a configuration is refused, also if an option overrides part of it", async () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['{"auth_mode": null}', [], /^jetrow: config\.type: auth_mode must .*received null\n/],
    ['{"name": null}', [], /^jetrow: config\.type: name must .*received null\n/],
    ['{"headers": null}', ["--header", "A: b"], /^jetrow: config\.type: headers must .*received null\n/],
    ['{"headers": ["x"]}', ["--header", "A: b"], /^jetrow: config\.type: headers must /],
    ['{"headers": "ab"}', ["--header", "A: b"], /^jetrow: config\.type: headers must /],
    ['{"tls": null}', ["--tls-handshake-first"], /^jetrow: config\.type: tls must .*received null\n/],
    ["{}", ["--header", "A: b", "--header", "A: c"], /--header gives "A" twice\n/],
  ];
  for (const [text, more, words] of cases) {
    await withFile("jetrow.json", text, async (path) => {
      await wrong(["publish", "f.arrow", ...DESTINATION, "--config", path, ...more], words);
    });
  }
});

Deno.test("a resource that does not fit the templates is refused before dialling", async () => {
  using files = new Files(1);
  for (const name of ["a b.arrow", "a.*.arrow"]) {
    const missing = await jetrow(["publish", files.path(name), ...DESTINATION]);
    assert.deepEqual([missing.exitCode, missing.err], [
      1,
      `jetrow: ${files.path(name)} cannot be read: no such file\n`,
    ]);
    files.write(name, tableToIPC(files.table, "file"));
    const { exitCode, err } = await jetrow(["publish", files.path(name), ...DESTINATION]);
    assert.equal(exitCode, 1, err);
    assert.match(err, /orders\..*give another one with --resource\.\n$/);
    const named = await jetrow(["publish", files.path(name), ...DESTINATION, "--resource", "c d"]);
    assert.match(named.err, /orders\.c d/);
    assert.doesNotMatch(named.err, /--resource/);
  }
});

Deno.test("a missing input is named", async () => {
  const { exitCode, out, err } = await jetrow(["publish", "/no/such/orders.arrow", ...DESTINATION]);
  assert.deepEqual({ exitCode, out }, { exitCode: 1, out: "" });
  assert.equal(err, "jetrow: /no/such/orders.arrow cannot be read: no such file\n");
});
