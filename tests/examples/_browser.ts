/**
 * Run by Node: uses the web page in Chromium as a person does. Prints a line `ok <what>` for each check that passes.
 *
 * `_browser.ts <playwright> <chromium> <page.js> [folder for screenshots]`
 */

import { tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import process from "node:process";
import { demoTable } from "../_support/arrow/mod.ts";
import { addStream, startNatsServer, startTcpProxy } from "../_support/nats/mod.ts";
import { connect } from "../../src/runtime/node.ts";
import { PASSWORDS, startWorkerServer } from "./_worker_conf.ts";

const [playwright, executablePath, script, screenshots] = process.argv.slice(2);
const PAGE = new URL("../../examples/web_page/", import.meta.url);
const ROWS = 20_000;

const nats = await startNatsServer({ websocket: true });
const proxy = await startTcpProxy(nats.wsUrl);
const file = `${nats.folder}/orders.arrow`;
await writeFile(file, tableToIPC(demoTable(ROWS, 8000), "file"));
await writeFile(`${nats.folder}/notes.arrow`, "no Arrow in here, only words and more words");

const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };
const web = createServer(async ({ url }, answer) => {
  const name = url === "/" ? "index.html" : url!.slice(1);
  answer.setHeader("content-type", types[name.split(".").at(-1)!]!);
  answer.end(await readFile(name === "page.js" ? script! : new URL(name, PAGE)));
}).listen(0, "127.0.0.1");
await once(web, "listening");
const guarded = await startWorkerServer(`http://127.0.0.1:${(web.address() as { port: number }).port}`);

const { chromium } = await import(playwright!);
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
page.setDefaultTimeout(120_000);
const strange: string[] = [];
page.on("pageerror", (error: Error) => strange.push(String(error)));

const text = (id: string): Promise<string> => page.locator(`#${id}`).textContent();
const publish = (): Promise<void> => page.getByRole("button", { name: /^Publish/ }).click();
const ok = (what: string): void => void process.stdout.write(`ok ${what}\n`);

/** Takes a screenshot. */
async function picture(name: string): Promise<void> {
  if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}

/** The result's title, once it has the focus. */
async function result(): Promise<string> {
  await page.locator("#result-title:focus").waitFor();
  return await text("result-title");
}

/** The entries of the result's list. */
async function facts(): Promise<Record<string, string>> {
  const [terms, values] = [await page.locator("dt").allTextContents(), await page.locator("dd").allTextContents()];
  return Object.fromEntries(terms.map((term: string, index: number) => [term, values[index]]));
}

/** Drops a file on the page by the browser's own drag and drop. */
async function dropFile(path: string): Promise<void> {
  const { x, y, width, height } = await page.locator("#drop").boundingBox();
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await session.send("Input.dispatchDragEvent", { type, x: x + width / 2, y: y + height / 2, data });
  }
}

try {
  await page.goto(`http://127.0.0.1:${(web.address() as { port: number }).port}/`);
  await picture("1-empty");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.id"), "file");
  for (const name of ["Server", "Stream", "Subject", "Resource"]) await page.getByRole("textbox", { name }).waitFor();
  await page.getByRole("combobox", { name: "Event id column" }).waitFor();
  await page.getByRole("textbox", { name: "Resource" }).fill("x");
  await publish();
  assert.equal(await page.locator("#file:invalid:focus").count(), 1);
  ok("the page can be used by keyboard, its fields have labels, and nothing happens without a file");

  await dropFile(`${nats.folder}/notes.arrow`);
  await page.getByRole("alert").waitFor();
  assert.match(await text("file-problem"), /^notes\.arrow cannot be read as Arrow: /);
  await picture("2-no-arrow");
  ok("a file that is not an Arrow file is refused");

  await dropFile(file);
  await page.getByRole("columnheader", { name: "created_at Timestamp<MICROSECOND, UTC>" }).waitFor();
  assert.match(await text("file-facts"), /^20,000 rows, 15 columns, \d\.\d MB$/);
  assert.equal(await page.locator("tbody tr").count(), 8);
  assert.equal(await page.locator("tbody tr:nth-child(2) td:nth-child(2)").textContent(), "9007199254740993");
  assert.equal(await page.getByRole("textbox", { name: "Resource" }).inputValue(), "orders");
  assert.equal(await page.getByRole("combobox", { name: "Event id column" }).inputValue(), "_filament_event_id");
  await picture("3-chosen");
  ok("a dropped file shows its columns and its first rows, with every digit");

  const server = page.getByRole("textbox", { name: "Server" });
  await server.fill("ws://127.0.0.1:1");
  await publish();
  assert.equal(await result(), "Not published");
  assert.match(await text("result-text"), /^Cannot connect to ws:\/\/127\.0\.0\.1:1: /);
  assert.equal((await facts()).Code, "connection.refused");
  await picture("4-no-server");
  ok("a server that cannot be reached is reported with jetrow's message");

  await server.fill("http://127.0.0.1:1");
  await publish();
  assert.equal(await result(), "Not published");
  assert.match(await text("result-text"), /^url /);
  assert.equal(await server.getAttribute("aria-invalid"), "true");
  await picture("5-wrong-field");
  ok("an invalid field is named and marked");

  await server.fill(proxy.url);
  proxy.delay({ down: 150 });
  await publish();
  await page.locator("progress[value]").waitFor();
  assert.equal(await page.locator("#cancel:focus").count(), 1);
  assert.match(await text("progress-text"), /^[\d,]+ of 20,000 rows acknowledged, \d+\.\d MB of JSON$/);
  const { value, max } = await page.locator("progress").evaluate((bar: { value: number; max: number }) => {
    return { value: bar.value, max: bar.max };
  });
  assert.ok(value < max && max === ROWS, `${value} of ${max}`);
  await picture("6-publishing");
  proxy.delay({ down: 0 });
  assert.equal(await result(), "Published");
  assert.equal(await text("result-text"), "The server has acknowledged all 20,000 rows.");
  const { Stream, Resource, Rows, Duplicates } = await facts();
  assert.deepEqual([Stream, Resource, Rows, Duplicates], ["UPLOADS", "orders", "20,000", "0"]);
  await picture("7-done");
  ok("publishing shows its progress, and ends with the receipt");

  await publish();
  assert.equal(await result(), "Published");
  assert.match(await text("result-text"), /20,000 of them the stream had already\.$/);
  ok("publishing the same file again reports its rows as duplicates");

  proxy.drop("down");
  await page.getByRole("combobox", { name: "Event id column" }).selectOption("");
  await server.fill(nats.wsUrl);
  await page.getByRole("textbox", { name: "Subject" }).fill("elsewhere.{resource}");
  await publish();
  assert.equal(await result(), "Not published");
  assert.match((await facts()).Code!, /^route\./);
  ok("a stream that does not capture the subject is reported");

  proxy.resume();
  await server.fill(proxy.url);
  await page.getByRole("textbox", { name: "Subject" }).fill("uploads.{resource}");
  proxy.delay({ down: 300 });
  await publish();
  await page.locator("progress[value]").waitFor();
  await page.keyboard.press("Enter"); // the focus is on Cancel
  assert.equal(await result(), "Cancelled");
  const cancelled = await facts();
  const counted = ["Stored", "Stored before", "Refused", "Fate unknown", "Not sent"].map((term) => cancelled[term]!);
  assert.equal(counted.reduce((sum, count) => sum + Number(count.replaceAll(",", "")), 0), ROWS);
  await picture("8-cancelled");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 800 });
  await picture("9-dark-and-narrow");
  const wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
  assert.ok(!wide, "the page scrolls sideways");
  ok("publishing can be cancelled, and the outcome of every row is shown");

  const admin = await connect({
    url: guarded.url,
    authMode: "user_password",
    username: "admin",
    password: PASSWORDS.ADMIN_PASSWORD,
  });
  await addStream(admin, { name: "EVENTS", subjects: ["events.>"] });
  await admin.close();
  await server.fill(guarded.wsUrl);
  await page.getByRole("textbox", { name: "Stream" }).fill("EVENTS");
  await page.getByRole("textbox", { name: "Subject" }).fill("events.{resource}");
  await page.getByText("Sign in").click();
  await page.getByRole("textbox", { name: "User" }).fill("worker");
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORDS.WORKER_PASSWORD);
  await publish();
  assert.equal(await result(), "Not published");
  assert.equal((await facts()).Code, "connection.permission");
  assert.match(await text("result-advice"), /inbox prefix/);
  await page.getByRole("textbox", { name: "Inbox prefix" }).fill("_INBOX_worker");
  await publish();
  assert.equal(await result(), "Published", await text("result-text"));
  ok("a user restricted to an inbox prefix can sign in with it, and gets an error that names it without it");

  assert.deepEqual(strange, []);
  ok("the page has thrown no uncaught error");
} finally {
  await browser.close();
  web.close();
  await proxy[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
}
