/**
 * A page that publishes an Arrow file over WebSocket: drop it, see its columns and first rows, publish, get the
 * receipt.
 *
 *     npx esbuild page.ts --bundle --target=es2022 --format=esm --outdir=. --servedir=. --serve=localhost:8000
 */

import { connect, isJetrowError, openRun, type Progress, type SinkConfig } from "@jetrow/jetrow/web";
import type { Table } from "apache-arrow";
import { element, number } from "./dom.ts";
import { readTable, showTable, textColumns } from "./preview.ts";
import { showError, showReceipt } from "./result.ts";

const form = element<HTMLFormElement>("form");
const input = element<HTMLInputElement>("file");
const drop = element("drop");
const publishButton = element<HTMLButtonElement>("publish");
const bar = element<HTMLProgressElement>("bar");

let table: Table | undefined;
let cancel = new AbortController();

input.addEventListener("change", choose);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  publish();
});
element("cancel").addEventListener("click", () => cancel.abort(new Error("you cancelled it")));
for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, () => drop.classList.add("over"));
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
// Without this the browser opens a file that is dropped outside of the target.
for (const name of ["dragover", "drop"] as const) {
  document.addEventListener(name, (event) => event.target !== input && event.preventDefault());
}

async function choose(): Promise<void> {
  const [file] = input.files ?? [];
  const problem = element("file-problem");
  for (const id of ["preview", "result"]) element(id).hidden = true;
  problem.hidden = true;
  table = undefined;
  publishButton.textContent = "Publish";
  if (file === undefined) return;
  try {
    table = await readTable(file);
  } catch (error) {
    input.value = "";
    problem.textContent = (error as Error).message;
    problem.hidden = false;
    return;
  }
  showTable(file, table);
  element("preview").hidden = false;
  field("resource").value = file.name.replace(/\.\w+$/, "");
  offerIdColumns(textColumns(table));
  publishButton.textContent = `Publish ${number(table.numRows)} rows`;
}

async function publish(): Promise<void> {
  if (table === undefined) return;
  const rows = table;
  const start = performance.now();
  cancel = new AbortController();
  begin();
  try {
    const config = {
      ...readForm(),
      onProgress: (progress) => showProgress(progress, rows.numRows),
    } satisfies SinkConfig;
    await using run = await openRun(() => connect(config), config);
    await run.applyAll([{ resource: field("resource").value, rows }], { signal: cancel.signal });
    showReceipt(await run.commit(), performance.now() - start);
  } catch (error) {
    showError(error);
    if (isJetrowError(error) && error.name === "ConfigError") field(error.field)?.setAttribute("aria-invalid", "true");
  } finally {
    element("progress").hidden = true;
    publishButton.disabled = false;
  }
}

function readForm(): SinkConfig {
  const values = Object.fromEntries(new FormData(form)) as Record<string, string>;
  const { url = "", stream = "", subject = "", eventIdColumn = "" } = values;
  const { username = "", password = "", inboxPrefix = "" } = values;
  return {
    url,
    stream,
    subject,
    ...(eventIdColumn === "" ? {} : { eventIdColumn }),
    ...(username === "" ? {} : { authMode: "user_password", username, password }),
    ...(inboxPrefix === "" ? {} : { inboxPrefix }),
  };
}

function begin(): void {
  element("result").hidden = true;
  for (const invalid of form.querySelectorAll("[aria-invalid]")) invalid.removeAttribute("aria-invalid");
  element("progress-text").textContent = "Connecting";
  bar.removeAttribute("value");
  publishButton.disabled = true;
  element("progress").hidden = false;
  element("cancel").focus();
}

function showProgress({ acked, bytes }: Progress, rows: number): void {
  bar.max = rows;
  bar.value = acked;
  element("progress-text").textContent = `${number(acked)} of ${number(rows)} rows acknowledged, ${
    number(bytes / 1e6, 1)
  } MB of JSON`;
}

function field(name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

function offerIdColumns(names: readonly string[]): void {
  const select = form.elements.namedItem("eventIdColumn") as HTMLSelectElement;
  select.length = 1;
  for (const name of names) select.add(new Option(name, name, false, name === "_filament_event_id"));
}
