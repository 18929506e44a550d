/** The suites by name. */

import { columns } from "./columns.ts";
import { costs } from "./costs.ts";
import { curves } from "./curves.ts";
import { encode } from "./encode.ts";
import { modes } from "./fast.ts";
import { file } from "./file.ts";
import { hash } from "./hash.ts";
import { link } from "./link.ts";
import { memory } from "./memory.ts";
import { prepare } from "./prepare.ts";
import { cases, publish } from "./publish.ts";
import type { Bench } from "./support/measure.ts";
import { read } from "./read.ts";
import { types } from "./types.ts";
import { windows } from "./window.ts";
import { workerd } from "./workerd.ts";

/** The suites that `deno task bench` runs, in this order. */
export const suites: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  read,
  encode,
  types,
  hash,
  window: windows,
  prepare,
  publish,
  cases,
  modes,
  columns,
  file,
  link,
  workerd,
  curves,
  costs,
  memory,
};
