import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinary, platform } from "../_support/nats/mod.ts";

const RELEASE = `nats-server-v2.15.2-${platform()}`;
const PROGRAM = "#!/bin/sh\necho nats-server: v2.15.2\n";

/** A working folder, an empty cache, a PATH without programs, and the printed lines. */
function workplace() {
  const folder = mkdtempSync(join(tmpdir(), "jetrow-binary-test-"));
  const bin = join(folder, "bin");
  const cache = join(folder, "cache");
  mkdirSync(bin);
  const said: string[] = [];
  const script = (path: string, text: string) => {
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  };
  return {
    folder,
    cache,
    said,
    script,
    /** Puts a program on the PATH. */
    onPath: (name: string, text: string) => script(join(bin, name), text),
    find: (env: Record<string, string> = {}) =>
      findBinary({
        env: { PATH: bin, JETROW_CACHE: cache, JETROW_NATS_RELEASES: "http://127.0.0.1:1", ...env },
        say: (line) => said.push(line),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface ReleaseOptions {
  readonly sums?: (sums: string) => string;
  readonly archive?: (response: ServerResponse, bytes: Uint8Array) => void;
}

/** A stand-in for the server of releases. */
async function releases(folder: string, options: ReleaseOptions = {}) {
  const { sums = (same) => same, archive = (response, bytes) => response.end(bytes) } = options;
  mkdirSync(join(folder, RELEASE));
  writeFileSync(join(folder, RELEASE, "nats-server"), PROGRAM);
  execFileSync("tar", ["-czf", `${RELEASE}.tar.gz`, RELEASE], { cwd: folder });
  const bytes = readFileSync(join(folder, `${RELEASE}.tar.gz`));
  const sum = createHash("sha256").update(bytes).digest("hex");
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/v2.15.2/SHA256SUMS") {
      response.end(sums(`${"0".repeat(64)}  other.zip\n${sum}  ${RELEASE}.tar.gz\n`));
    } else if (request.url === `/v2.15.2/${RELEASE}.tar.gz`) {
      archive(response.setHeader("content-length", bytes.length), bytes);
    } else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked,
    env: { JETROW_NATS_RELEASES: `http://127.0.0.1:${(server.address() as { port: number }).port}` },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

Deno.test("findBinary() uses NATS_SERVER, then the PATH, then the cache folder", async () => {
  using place = workplace();
  mkdirSync(place.cache);
  const cached = place.script(join(place.cache, "nats-server-2.15.2"), PROGRAM);
  assert.equal(await place.find(), cached);
  const onPath = place.onPath("nats-server", PROGRAM);
  assert.equal(await place.find(), onPath);
  const named = place.script(join(place.folder, "mine"), PROGRAM);
  assert.equal(await place.find({ NATS_SERVER: named }), named);
  assert.equal(await place.find({ NATS_SERVER: join(place.folder, "nowhere") }), onPath);
  place.script(named, "#!/bin/sh\nexit 3\n");
  assert.equal(await place.find({ NATS_SERVER: named }), onPath);
  assert.deepEqual(place.said, []);
});

Deno.test("findBinary() fetches the official release once and keeps it", async () => {
  using place = workplace();
  await using server = await releases(place.folder);
  const path = await place.find(server.env);
  assert.equal(path, join(place.cache, "nats-server-2.15.2"));
  assert.equal(readFileSync(path, "utf8"), PROGRAM);
  assert.deepEqual(server.asked, ["/v2.15.2/SHA256SUMS", `/v2.15.2/${RELEASE}.tar.gz`]);
  assert(place.said.some((line) => line.startsWith("fetching ")), place.said.join("\n"));
  assert.equal(await place.find(server.env), path);
  assert.equal(server.asked.length, 2);
  assert.deepEqual(readdirSync(place.cache), ["nats-server-2.15.2"]);
});

Deno.test("findBinary() fetches once for several concurrent callers", async () => {
  using place = workplace();
  await using server = await releases(place.folder);
  const paths = await Promise.all(Array.from({ length: 5 }, () => place.find(server.env)));
  assert.equal(new Set(paths).size, 1);
  assert.equal(server.asked.length, 2);
});

const BROKEN: readonly (readonly [string, ReleaseOptions, RegExp])[] = [
  [
    "a wrong checksum",
    { sums: (sums) => sums.replace(/[0-9a-f]{64}(?= {2}nats)/, "1".repeat(64)) },
    /has the SHA-256 [0-9a-f]{64}, SHA256SUMS says 1{64}/,
  ],
  ["no checksum", { sums: () => `${"0".repeat(64)}  other.zip\n` }, /SHA256SUMS has no line for nats-server-v2/],
  [
    "no archive",
    { archive: (response) => response.removeHeader("content-length") ?? response.writeHead(404).end() },
    /answered 404/,
  ],
  [
    "a cut archive",
    { archive: (response, bytes) => void response.write(bytes.subarray(0, 100), () => response.destroy()) },
    /was cut: |has the SHA-256/,
  ],
];

for (const [what, options, reason] of BROKEN) {
  Deno.test(`findBinary() tries other ways when the release has ${what}, and reports it at the end`, async () => {
    using place = workplace();
    await using server = await releases(place.folder, options);
    await assert.rejects(place.find(server.env), (error: Error) => {
      assert.match(error.message, reason);
      for (
        const way of [
          "NATS_SERVER: not set",
          "the PATH: no nats-server",
          "the cache folder",
          "go install: go cannot be run",
          "Debian's package: dpkg cannot be run",
        ]
      ) {
        assert(error.message.includes(way), error.message);
      }
      return true;
    });
    assert.deepEqual(readdirSync(place.cache), []);
  });
}

Deno.test("findBinary() builds with Go if the release is not available", async () => {
  using place = workplace();
  const go = `#!/bin/sh
    [ "$1" = version ] && echo go version go1.26 && exit
    [ "$1 $4" = "install github.com/nats-io/nats-server/v2@v2.15.2" ] || exit 1
    echo compiling >&2
    printf '${PROGRAM.replaceAll("\n", "\\n")}' >"$GOBIN/nats-server"`;
  place.onPath("go", go);
  assert.equal(await place.find(), join(place.cache, "nats-server-2.15.2"));
  assert(place.said.includes("compiling"), place.said.join("\n"));
  assert(place.said.some((line) => line.startsWith("the official release: ")), place.said.join("\n"));
});

Deno.test("findBinary() last unpacks Debian's package, with its own package lists if apt has none", async () => {
  using place = workplace();
  place.onPath("go", "#!/bin/sh\n[ $1 = version ] || { echo no such module >&2; exit 1; }\n");
  place.onPath(
    "apt-get",
    `#!/bin/sh
    case "$*" in
      update*) for last; do :; done; : >updated ;;
      *download*) [ -e updated ] && : >nats-server_2.9.10.deb || exit 100 ;;
    esac`,
  );
  place.onPath(
    "dpkg",
    `#!/bin/sh
    [ "$1" = -x ] || exit 0
    /bin/mkdir -p "$3/usr/sbin"
    printf '#!/bin/sh\\necho nats-server: v2.9.10\\n' >"$3/usr/sbin/nats-server"`,
  );
  const path = await place.find();
  assert.equal(path, join(place.cache, "nats-server-debian"));
  assert(place.said.some((line) => /go install: .*no such module/.test(line)), place.said.join("\n"));
  assert.deepEqual(readdirSync(place.cache), ["nats-server-debian"]);
});

Deno.test("findBinary() takes over the lock of a process that died", async () => {
  using place = workplace();
  await using server = await releases(place.folder);
  const lock = join(place.cache, "nats-server.lock");
  mkdirSync(lock, { recursive: true });
  const old = new Date(Date.now() - 60_000);
  utimesSync(lock, old, old);
  assert(existsSync(await place.find(server.env)));
});
