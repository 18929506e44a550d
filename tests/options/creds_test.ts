import assert from "node:assert/strict";
import { credsAuthenticator, nkeys } from "@nats-io/nats-core";
import { fmtCreds } from "@nats-io/jwt";
import fc from "fast-check";
import { parseCreds, seedIn } from "../../src/options/creds.ts";
import { makeOperator } from "../_support/nats/mod.ts";
import { keepsSecret, refuses } from "../_support/config_errors.ts";

const JWT = "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJzM2NyZXQifQ.c2ln_-0";
const seedOf = (key: { getSeed(): Uint8Array }) => new TextDecoder().decode(key.getSeed());
const SEED = seedOf(nkeys.createUser());

const FILE = `-----BEGIN NATS USER JWT-----
${JWT}
------END NATS USER JWT------

************************* IMPORTANT *************************
NKEY Seed printed below can be used to sign and prove identity.
NKEYs are sensitive and should be treated as secrets.

-----BEGIN USER NKEY SEED-----
${SEED}
------END USER NKEY SEED------

*************************************************************
`;

Deno.test("parseCreds() reads files of nsc and of the NATS libraries", async () => {
  assert.deepEqual(parseCreds(FILE), { jwt: JWT, nkeySeed: SEED });
  const { jwt, nkeySeed } = await (await makeOperator()).user();
  const written = new TextDecoder().decode(fmtCreds(jwt, nkeys.fromSeed(new TextEncoder().encode(nkeySeed))));
  assert.deepEqual(parseCreds(written), { jwt, nkeySeed });
});

Deno.test("parseCreds() accepts the forms that NATS clients accept, also without a final line end", () => {
  const forms = {
    "CRLF": FILE.replaceAll("\n", "\r\n"),
    "a byte order mark": `\ufeff${FILE}`,
    "white space after lines": FILE.replaceAll("\n", " \t\n"),
    "indented lines": FILE.replaceAll(/^/gm, "  "),
    "empty lines around values": FILE.replaceAll(/^(ey|SU).*$/gm, "\n$&\n"),
    "three dashes": FILE.replaceAll(/-{3,}/g, "---"),
    "many dashes": FILE.replaceAll(/-{3,}/g, "-".repeat(40)),
    "other words": FILE.replaceAll("NATS USER JWT", "A").replaceAll("USER NKEY SEED", "B"),
    "spaces within the dashes": FILE.replaceAll(/(-{3,})((?:BEGIN|END)[A-Z ]*)/g, "$1 $2 "),
    "nothing between the values": FILE.replace(/^\n\*+ IMP[^]*secrets\.\n\n/m, ""),
    "nothing after the last line": FILE.slice(0, FILE.indexOf("\n\n****", FILE.indexOf(SEED))),
    "more sections": `${FILE}\n---X---\nmore\n---X---\n`,
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.deepEqual(parseCreds(text), { jwt: JWT, nkeySeed: SEED }, form);
  }
});

Deno.test("parseCreds() returns the credentials that the NATS client reads from the same file", () => {
  const words = fc.string({ unit: fc.constantFrom(..."AZ ="), maxLength: 8 });
  const dashes = fc.integer({ min: 3, max: 9 }).map((count) => "-".repeat(count));
  const mark = fc.tuple(dashes, words, dashes).map((parts) => parts.join(""));
  const noise = fc.constantFrom("\n", "", "***\n", "NKEY Seed printed below\n\n");
  fc.assert(fc.property(mark, mark, mark, mark, noise, (a, b, c, d, between) => {
    const text = `${a}\n${JWT}\n${b}\n${between}${c}\n${SEED}\n${d}\n`;
    const theirs = credsAuthenticator(new TextEncoder().encode(text))("nonce") as { jwt: string; nkey: string };
    const { jwt, nkeySeed } = parseCreds(text);
    const nkey = nkeys.fromSeed(new TextEncoder().encode(nkeySeed)).getPublicKey();
    assert.deepEqual({ jwt, nkey }, { jwt: theirs.jwt, nkey: theirs.nkey });
  }));
});

Deno.test("parseCreds() throws on a file without JWT or seed, and shows no part of it", () => {
  const flipped = SEED.slice(0, 20) + (SEED[20] === "A" ? "B" : "A") + SEED.slice(21);
  const cases: readonly (readonly [text: string, says: string])[] = [
    ["", "the user's JWT"],
    [JWT, "the user's JWT"],
    [SEED, "the user's JWT"],
    [`${JWT}\n${SEED}\n`, "the user's JWT"],
    [FILE.slice(FILE.indexOf("-----BEGIN USER NKEY")), "the user's JWT"],
    [FILE.replace(JWT, "s3cret"), "the user's JWT"],
    [FILE.replaceAll(/-{3,}/g, "--"), "the user's JWT"],
    [FILE.slice(0, FILE.indexOf(SEED)), "the user's seed"],
    [FILE.slice(0, FILE.indexOf(SEED) + SEED.length), "the user's seed"],
    [FILE.replace(SEED, "s3cret"), "begin with SU"],
    [FILE.replace(SEED, `${SEED} s3cret`), "begin with SU"],
    [FILE.replace(SEED, seedOf(nkeys.createAccount())), "begin with SU"],
    [FILE.replace(SEED, flipped), "its checksum is wrong"],
  ];
  for (const [text, says] of cases) {
    const error = refuses(() => parseCreds(text), { code: "config.syntax", field: "creds", says });
    for (const secret of ["s3cret", JWT, SEED.slice(2, 20), JWT.split(".")[1]!]) keepsSecret(error, secret);
  }
  for (
    const [value, kind] of [[undefined, "undefined"], [null, "null"], [5, "a number"], [
      new Uint8Array(1),
      "a Uint8Array",
    ]]
  ) {
    refuses(() => parseCreds(value as string), { code: "config.type", field: "creds", says: `${kind}` });
  }
});

Deno.test("parseCreds() reads each line a fixed number of times", () => {
  const text = `${"-".repeat(2_000_000)}\n`.repeat(3) + FILE;
  assert.deepEqual(parseCreds(text), { jwt: JWT, nkeySeed: SEED });
});

Deno.test("seedIn() finds the seed alone, between lines of dashes, and in a .creds file", () => {
  const decorated = `-----BEGIN USER NKEY SEED-----\r\n${SEED}\r\n------END USER NKEY SEED------\r\n`;
  for (const text of [SEED, `${SEED}\n`, `# comment\n  ${SEED}  \n`, decorated, FILE]) assert.equal(seedIn(text), SEED);
  const account = seedOf(nkeys.createAccount());
  assert.equal(seedIn(account), account, "the rule of seeds refuses it");
  for (const text of ["", "\n", JWT, nkeys.createUser().getPublicKey()]) assert.equal(seedIn(text), undefined);
});
