/**
 * The options of `jetrow verify`.
 *
 * @module
 */

import { FORMAT_OPTION } from "../options/format.ts";
import { type HelpGroup, helpOf } from "../options/help.ts";
import type { CliOption } from "../options/parse.ts";
import { CONFIG_OPTION, CONNECTION_OPTIONS, HELP_OPTION, SECRETS_HELP } from "../options/table.ts";

const GROUPS: readonly HelpGroup[] = [
  { title: "Connection", options: CONNECTION_OPTIONS },
  { title: "Other", options: [FORMAT_OPTION, CONFIG_OPTION, HELP_OPTION] },
];

/** The options of `jetrow verify`. */
export const VERIFY_OPTIONS: readonly CliOption[] = GROUPS.flatMap(({ options }) => options);

/** The output of `jetrow verify --help`. */
export const VERIFY_HELP = `jetrow verify RECEIPT... --url URL [options]

Reads the rows of receipts back from their streams and compares rows, bytes and checksum. RECEIPT is a file with
the receipts that jetrow publish prints, one per line, or a journal of jetrow publish --receipt, or - for standard input.
Prints one line per receipt: a sentence on a terminal, JSON in a pipe.

  jetrow verify receipts.jsonl --url nats://localhost
  jetrow verify orders.journal --context prod

${helpOf(GROUPS)}
${SECRETS_HELP}

Exit code: 0 all rows are stored as published, 1 some are not or reading failed, 2 wrong usage, 130 interrupted.
`;
