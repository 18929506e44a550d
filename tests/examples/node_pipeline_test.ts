import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "../../src/runtime/deno.ts";
import { infoOf, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { node22Program, nodeProgram } from "../_support/runtimes.ts";
import { until } from "../_support/wait.ts";
import { bundle } from "./_bundle.ts";
import { start } from "./_program.ts";

const script = bundle("node_pipeline.ts", { platform: "node", target: "node22", packages: "external" });
const node22 = await node22Program();

function readings(first: number, count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const value = number % 5 === 0 ? null : number / 8;
    return JSON.stringify({ id: `r-${number}`, sensor: `s${number % 3}`, value, at: "2026-01-31T08:00:00.5Z" });
  });
  return `${lines.join("\n")}\n`;
}

for (const [name, node] of [["Node 22", node22], ["newest Node", await nodeProgram()]] as const) {
  Deno.test({ name: `the pipeline publishes on ${name}`, ignore: node === undefined }, async () => {
    await using server = await startNatsServer();
    await using program = start([node!, script, server.url]);
    program.child.stdin!.end(readings(0, 4200));
    await program.line(/"rows":4200,/);
    assert.equal(await program.end(), 0, program.lines.join("\n"));
    await using nc = await connect({ url: server.url });
    const stored = await storedIn(nc, "READINGS");
    assert.equal(stored.length, 4200);
    assert.equal(stored[5]!.body, '{"id":"r-5","sensor":"s2","value":null,"at":"2026-01-31T08:00:00.5Z"}');
    assert.equal(stored[4199]!.body, '{"id":"r-4199","sensor":"s2","value":524.875,"at":"2026-01-31T08:00:00.5Z"}');
  });
}

Deno.test(
  { name: "the pipeline reads no faster than the server acknowledges", ignore: node22 === undefined },
  async () => {
    await using server = await startNatsServer();
    await using program = start([node22!, script, server.url]);
    const stdin = program.child.stdin!;
    const chunk = (number: number) => readings(number * 1000, 1000);
    stdin.write(chunk(0));
    await using nc = await connect({ url: server.url, reconnect: true });
    await until("the run to be open", () => infoOf(nc, "READINGS").then(() => true));

    await server.pause();
    let taken = 1;
    const feeding = (async () => {
      for (; taken < 100; taken++) if (!stdin.write(chunk(taken))) await once(stdin, "drain");
      stdin.end();
    })();
    // It stops reading: the amount at the last look is all that it has read.
    let last = 0;
    await until("the source to stop", () => {
      const stopped = taken === last;
      last = taken;
      return stopped;
    }, { every: 500 });

    assert.ok(last < 40, `took ${last} of 100 chunks`);

    server.resume();
    await feeding;
    await program.line(/"rows":100000,/);
    assert.equal(await program.end(), 0, program.lines.join("\n"));
  },
);

Deno.test(
  { name: "the pipeline exits with the reason when something fails", ignore: node22 === undefined },
  async (t) => {
    await using server = await startNatsServer();
    const run = async (input: string, url = server.url) => {
      await using program = start([node22!, script, url]);
      program.child.stdin!.on("error", () => {}).write(input); // and left open
      return { code: await program.end(), said: program.lines.join("\n") };
    };
    for (
      const [what, input, url, reason] of [
        ["a line that is not valid JSON", `${readings(0, 5000)}{"id"\n`, server.url, /Error: line 5001: /],
        ["a line that is not an object", "\nnull\n", server.url, /Error: line 2: /],
        [
          "a record without an id",
          '{"sensor":"s","at":"2026-01-31"}\n',
          server.url,
          /line 1: id and sensor must be strings/,
        ],
        ["no server", readings(0, 1), "nats://127.0.0.1:1", /connection\.refused: Cannot connect to nats:\/\/127/],
      ] as const
    ) {
      await t.step(what, async () => {
        const { code, said } = await run(input, url);
        assert.equal(code, 1);
        assert.match(said, reason);
      });
    }
  },
);
