/**
 * `jetrow publish`: files in, receipts out.
 *
 * @module
 */

import { dryRun } from "./dry_run.ts";
import type { OpenSource } from "../input/open.ts";
import { RouteError } from "../../errors/mod.ts";
import type { CliIo } from "../io.ts";
import { assertRoute } from "../route.ts";
import { JournalError } from "../journal/error.ts";
import type { JournalLine } from "../journal/line.ts";
import { readJournal } from "../journal/read.ts";
import type { JournalState } from "../journal/state.ts";
import { JournalWriter } from "../journal/writer.ts";
import { visible } from "../text.ts";
import { checkSources, openSources } from "./preflight.ts";
import { Publication } from "./publication.ts";
import { PUBLISH_HELP, type PublishPlan, publishPlan, resourceOf, type Source } from "./options.ts";
import { rowsOf } from "../report.ts";
import { assertSameRun } from "../resume/compare.ts";
import { resumption } from "../resume/resume.ts";
import { runLine } from "../journal/run_line.ts";
import { SourceItems } from "./source_items.ts";

/**
 * Runs `jetrow publish`.
 *
 * @throws the error that ended the run; receipts that were printed stay valid
 */
export async function publish(args: readonly string[], io: CliIo): Promise<number> {
  const plan = await publishPlan(args, io);
  if (plan === undefined) {
    await io.stdout.write(PUBLISH_HELP);
    return 0;
  }
  const sources = await openSources(plan, io);
  for (const source of plan.sources) assertSourceRoute(plan, source);
  if (plan.dryRun) await dryRun(plan, sources, io);
  else await send(plan, sources, io);
  return 0;
}

/** Checks the destination of an input. A file's name may not fit the templates, in which case `--resource` is needed. */
function assertSourceRoute({ config }: PublishPlan, { file, resource }: Source): void {
  try {
    assertRoute(config, resource);
  } catch (error) {
    if (!(error instanceof RouteError) || resourceOf(file) !== resource) throw error;
    const hint = `The resource is the name of the file: give another one with --resource.`;
    throw new RouteError(error.code, `${error.message.replace(/\.?$/, ".")} ${hint}`, { resource });
  }
}

async function send(plan: PublishPlan, opened: readonly OpenSource[], io: CliIo): Promise<void> {
  const run = runLine(plan, opened);
  const { inputs } = run;
  const read = plan.resume === undefined ? undefined : await readJournal(plan.resume, io.signal);
  if (read?.state.run !== undefined) assertSameRun(plan.resume!, read.state.run, run);
  const path = plan.resume ?? plan.receipt;
  const journal = path === undefined ? undefined : await JournalWriter.open(path, read?.end);
  const notes: JournalLine[] = [];
  let items: SourceItems | undefined;
  try {
    const sources = await checkSources(plan, opened, io.signal);
    items = new SourceItems(
      sources,
      (input, schema) => noteSchema(input, schema, notes, inputs[input]!.file, read?.state),
    );
    const all = totalRows(sources);
    if (read?.state.run === undefined) {
      // Synced before anything is created on the server, which shows that the journal can be written.
      await journal?.append(run);
      await journal?.sync();
      const work = { pending: [], rest: undefined, items };
      return await new Publication(plan, io, { inputs, work, rows: all, journal, notes }).run();
    }
    const { work, lines, receipts, settledRows } = await resumption(read.state, {
      plan,
      inputs,
      items,
      signal: io.signal,
    });
    await journal!.append(...lines);
    await journal!.sync();
    const rows = all === undefined ? undefined : all - settledRows;
    const publication = new Publication(plan, io, { inputs, work, rows, journal, notes });
    for (const receipt of receipts) await publication.print(receipt);
    await io.stderr.write(`${visible(`${rowsOf(settledRows)} are already published, according to ${path}`)}\n`);
    await publication.run();
  } finally {
    await items?.return().catch(() => {});
    await journal?.close();
  }
}

/** Compares an input's columns with those of the journal, or adds them to it. */
function noteSchema(
  input: number,
  schema: readonly string[],
  notes: JournalLine[],
  file: string,
  state: JournalState | undefined,
): void {
  const known = state?.schemas.get(input);
  if (known === undefined) return void notes.push({ kind: "input", input, schema });
  const columns = Math.max(known.length, schema.length);
  for (let i = 0; i < columns; i++) {
    if (known[i] === schema[i]) continue;
    throw new JournalError(
      `Cannot resume: ${file} has other columns than what was published: ${schema[i] ?? "none"} instead of ` +
        `${known[i] ?? "none"}`,
    );
  }
}

/** Returns the number of rows of all inputs, if each is known. */
function totalRows(sources: readonly OpenSource[]): number | undefined {
  return sources.reduce<number | undefined>(
    (sum, { input }) => sum === undefined || input.rows === undefined ? undefined : sum + input.rows,
    0,
  );
}
