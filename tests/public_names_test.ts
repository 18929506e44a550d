import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };

/**
 * `deno doc --lint` requires this package to export every type of a signature, also those of other packages, and then
 * checks their documentation. References to them are exempt: there is one, the connection.
 */
const FOREIGN = /^error\[private-type-ref\]: public type '[^']+' references private type 'NatsConnection'$/;

/** What `deno doc --json` prints for a name. */
interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly declarationKind: string;
    readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
  }[];
}

Deno.test("every public name is documented, and refers to public names only", async () => {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", ...Object.values(config.exports)],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stderr);
  const errors = text.split(/^(?=error)/m).map((error) => error.trim()).filter((error) => error.startsWith("error"));
  const own = errors.filter((error) => {
    const [line = ""] = error.split("\n");
    return !FOREIGN.test(line) && !/^error: Found \d+ documentation lint errors/.test(line);
  });
  assert.deepEqual(own, []);
  assert(/Checked \d+ file|Found \d+ documentation/.test(text), text);
});

Deno.test("every public name has an example", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...Object.values(config.exports)],
    cwd: new URL("../", import.meta.url),
  }).output();
  const { nodes }: { nodes: Record<string, { symbols: readonly DocSymbol[] }> } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const lacking = Object.values(nodes).flatMap(({ symbols }) => symbols).filter(({ declarations }) =>
    declarations.some(({ kind, declarationKind, jsDoc }) =>
      declarationKind === "export" && kind !== "reference" && !jsDoc?.tags?.some((tag) => tag.kind === "example")
    )
  );
  assert.ok(Object.keys(nodes).length >= Object.keys(config.exports).length);
  assert.deepEqual(lacking.map(({ name }) => name), []);
});
