/**
 * The output of `--help`.
 *
 * @module
 */

import type { CliOption } from "./parse.ts";

/** The preferred maximum length of the help's lines. */
const WIDTH = 100;

/** Options under a heading. */
export interface HelpGroup {
  /** The heading. */
  readonly title: string;
  /** The options. */
  readonly options: readonly CliOption[];
}

/** Returns options as text: each with its default and its environment variable. */
export function helpOf(groups: readonly HelpGroup[]): string {
  return groups.map(({ title, options }) => `${title}:\n${options.map(entryOf).join("\n")}\n`).join("\n");
}

function entryOf({ name, type, value, env, byDefault, help }: CliOption): string {
  const form = type === "flag" ? flagForms(name, env) : `--${name} ${value ?? "TEXT"}`;
  const notes = [byDefault && `default: ${byDefault}`, env && `env: ${env}`].filter(Boolean).join("; ");
  const text = `      ${help}`;
  if (notes === "") return `  ${form}\n${text}`;
  const gap = text.length + notes.length + 3 > WIDTH ? "\n      " : " ";
  return `  ${form}\n${text}${gap}[${notes}]`;
}

/** A flag that only the command line can set needs no form that resets it. */
function flagForms(name: string, env: string | undefined): string {
  return env === undefined ? `--${name}` : `--${name}, --no-${name}`;
}
