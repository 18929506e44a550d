/**
 * The options of `jetrow check`.
 *
 * @module
 */

import { FORMAT_OPTION } from "../options/format.ts";
import { type HelpGroup, helpOf } from "../options/help.ts";
import type { CliOption } from "../options/parse.ts";
import { CONFIG_OPTION, CONNECTION_OPTIONS, HELP_OPTION, SECRETS_HELP } from "../options/table.ts";
import { PUBLISHER_OPTIONS } from "../options/publisher_table.ts";

const GROUPS: readonly HelpGroup[] = [
  { title: "Destination", options: PUBLISHER_OPTIONS },
  { title: "Connection", options: CONNECTION_OPTIONS },
  {
    title: "Other",
    options: [
      {
        name: "resource",
        type: "string",
        value: "NAME",
        env: "JETROW_RESOURCE",
        byDefault: "none: checks what does not depend on the resource",
        help: "check the destination of this resource",
      },
      FORMAT_OPTION,
      CONFIG_OPTION,
      HELP_OPTION,
    ],
  },
];

/** The options of `jetrow check`. */
export const CHECK_OPTIONS: readonly CliOption[] = GROUPS.flatMap(({ options }) => options);

/** The output of `jetrow check --help`. */
export const CHECK_HELP = `jetrow check --url URL --stream TEMPLATE --subject TEMPLATE [options]

Connects, and checks the destination and its consumers for what goes wrong in production. Changes nothing: creates no
stream and sends no message. Prints a table on a terminal, one JSON object in a pipe.

  jetrow check --url nats://localhost --stream ORDERS --subject 'orders.{resource}'
  jetrow check --context prod --config orders.json

${helpOf(GROUPS)}
${SECRETS_HELP}

Exit code: 0 no errors found, 1 errors found or the check failed, 2 wrong usage, 130 interrupted.
`;
