/**
 * The line of a journal that describes a run.
 *
 * @module
 */

import { resolveLimits } from "../../arrow/slice.ts";
import { FORM_NAMES, formsOf } from "../../options/json_forms.ts";
import { resolveOptions, type Settings } from "../../options/publisher.ts";
import { resourceSubject } from "../../subject/capture.ts";
import { expandTemplate, rowPlaceholders } from "../../subject/template.ts";
import type { JsonForms } from "../../types/mod.ts";
import type { OpenSource } from "../input/open.ts";
import type { RunLine } from "./line.ts";
import { VERSION_OF_JOURNAL } from "./state.ts";
import type { PublishPlan } from "../publish/options.ts";
import { VERSION } from "../version.ts";

/** Returns the first line of a run: everything that decides which rows there are, their ids, and where they go. */
export function runLine({ config, limits, operation }: PublishPlan, sources: readonly OpenSource[]): RunLine {
  const settings = resolveOptions(config);
  const { stream, subject, namespace, publishMode } = settings;
  const { batchMaxRows, batchMaxBytes } = resolveLimits(limits);
  return {
    kind: "run",
    journal: VERSION_OF_JOURNAL,
    time: new Date().toISOString(),
    jetrow: VERSION,
    inputs: sources.map(({ input, resource }) => ({
      file: input.name,
      size: input.size ?? null,
      resource,
      stream: expandTemplate(stream, resource),
      subject: resourceSubject(subject, resource).pattern,
    })),
    options: {
      ...(operation && { operation }),
      ...columnOptions(settings),
      tenant: namespace.tenant,
      pipeline: namespace.pipeline,
      "sink-connection": namespace.sinkConnection,
      "publish-mode": publishMode,
      "batch-rows": batchMaxRows,
      "batch-bytes": batchMaxBytes,
      ...formOptions(settings.json),
    },
  };
}

/** The options that name columns, by the names of their flags. Lists and mappings are in JSON. */
function columnOptions(settings: Settings): Record<string, string> {
  const { subject, subjectEscape, headers, eventIdColumns, operationColumn, operationValues } = settings;
  const { bodyColumns, rawBodyColumn, contentType } = settings;
  const rowHeaders = headers.filter(([, value]) => rowPlaceholders(value).length > 0);
  return {
    "event-id-column": eventIdColumns.length === 1 ? eventIdColumns[0]! : JSON.stringify(eventIdColumns),
    ...(rowPlaceholders(subject).length > 0 && { subject, "subject-escape": subjectEscape }),
    ...(rowHeaders.length > 0 && { header: JSON.stringify(Object.fromEntries(rowHeaders)) }),
    ...(operationColumn !== undefined && {
      "operation-column": operationColumn,
      "operation-value": JSON.stringify(operationValues),
    }),
    ...(bodyColumns?.pick && { pick: JSON.stringify(bodyColumns.pick) }),
    ...(bodyColumns?.omit && { omit: JSON.stringify(bodyColumns.omit) }),
    ...(rawBodyColumn !== undefined && { "raw-body-column": rawBodyColumn, "content-type": contentType }),
  };
}

/** The forms by their flags, and those of single columns that differ, in one order however they were written. */
function formOptions(json: JsonForms | undefined): Record<string, string> {
  const all = formsOf(json);
  const flags = FORM_NAMES.map((name) => [`json-${toKebabCase(name)}`, all[name]]);
  const columns = Object.keys(json?.columns ?? {}).sort().flatMap((column) => {
    const own = formsOf(json, column);
    const other = FORM_NAMES.filter((name) => own[name] !== all[name]).map((name) => [name, own[name]]);
    return other.length === 0 ? [] : [[column, Object.fromEntries(other)]];
  });
  return { ...Object.fromEntries(flags), ...(columns.length > 0 && { "json.columns": JSON.stringify(columns) }) };
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
