import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { chromiumProgram, nodeProgram, playwrightModule } from "../_support/runtimes.ts";
import { bundle } from "./_bundle.ts";
import { start } from "./_program.ts";

const SCENARIO = fileURLToPath(new URL("_browser.ts", import.meta.url));
const tools = [await nodeProgram(), SCENARIO, await playwrightModule(), chromiumProgram()];
const command = tools.filter((tool) => tool !== undefined);

// JETROW_SCREENSHOTS names a folder for screenshots of the page's states.
Deno.test({ name: "the web page in Chromium", ignore: command.length < tools.length }, async (t) => {
  const script = bundle("web_page/page.ts", { platform: "browser", target: "es2022" });
  const { JETROW_SCREENSHOTS: pictures } = process.env;
  await using program = start([...command, script, ...(pictures ? [pictures] : [])]);
  const code = await program.end();
  const steps = [...readFileSync(SCENARIO, "utf8").matchAll(/^ {2}ok\("(.*)"\);$/gm)].map(([, what]) => `ok ${what}`);
  assert.ok(steps.length > 5);
  for (const step of steps) {
    await t.step(step.slice(3), () => assert.ok(program.lines.includes(step), program.lines.join("\n")));
  }
  assert.equal(code, 0, program.lines.join("\n"));
});
