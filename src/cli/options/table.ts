/**
 * The command line's names for the keys of the configuration document.
 *
 * @module
 */

import type { CliOption } from "./parse.ts";

/** The servers and the credentials. */
export const CONNECTION_OPTIONS: readonly CliOption[] = [
  {
    name: "url",
    key: "url",
    type: "strings",
    value: "URL",
    env: "JETROW_URL",
    help: "nats://, tls://, ws:// or wss://; separate several by commas, or repeat the option",
  },
  {
    name: "context",
    type: "string",
    value: "NAME",
    env: "JETROW_CONTEXT",
    help: "a context of the nats command: its servers, credentials, TLS files, inbox prefix and domain",
  },
  {
    name: "auth-mode",
    key: "auth_mode",
    type: "string",
    value: "MODE",
    env: "JETROW_AUTH_MODE",
    byDefault: "follows from the credentials",
    help: "none, user_password, jwt, nkey or token",
  },
  {
    name: "username",
    key: "username",
    type: "string",
    value: "NAME",
    env: "JETROW_USERNAME",
    help: "the user's name; the password comes from JETROW_PASSWORD or a file",
  },
  {
    name: "creds",
    type: "string",
    value: "FILE",
    env: "JETROW_CREDS",
    help: "a NATS .creds file: a user's JWT and seed",
  },
  {
    name: "tls-ca",
    type: "string",
    value: "FILE",
    env: "JETROW_TLS_CA",
    byDefault: "the runtime's own",
    help: "certificate authorities to trust: a PEM file",
  },
  {
    name: "tls-cert",
    type: "string",
    value: "FILE",
    env: "JETROW_TLS_CERT",
    help: "client certificate: a PEM file; requires --tls-key",
  },
  {
    name: "tls-key",
    type: "string",
    value: "FILE",
    env: "JETROW_TLS_KEY",
    help: "client key: a PEM file; requires --tls-cert",
  },
  {
    name: "tls-handshake-first",
    type: "flag",
    env: "JETROW_TLS_HANDSHAKE_FIRST",
    byDefault: "no",
    help: "start with the TLS handshake; must match the server's handshake_first",
  },
  {
    name: "connect-timeout",
    key: "connect_timeout",
    type: "string",
    value: "DURATION",
    env: "JETROW_CONNECT_TIMEOUT",
    byDefault: "10s",
    help: "timeout for each address of each server",
  },
  {
    name: "name",
    key: "name",
    type: "string",
    value: "TEXT",
    env: "JETROW_NAME",
    byDefault: "jetrow",
    help: "the connection's name, shown by the server",
  },
  {
    name: "inbox-prefix",
    key: "inbox_prefix",
    type: "string",
    value: "SUBJECT",
    env: "JETROW_INBOX_PREFIX",
    byDefault: "_INBOX",
    help: "prefix of every reply subject",
  },
  {
    name: "domain",
    key: "domain",
    type: "string",
    value: "NAME",
    env: "JETROW_DOMAIN",
    help: "the JetStream domain",
  },
];

/** The configuration document. */
export const CONFIG_OPTION: CliOption = {
  name: "config",
  type: "string",
  value: "FILE",
  env: "JETROW_CONFIG",
  help: "a JSON document with options in snake_case, and credentials; the command line overrides it",
};

/** The help. */
export const HELP_OPTION: CliOption = { name: "help", short: "h", type: "flag", help: "print this help" };

/** The last paragraph of every help. */
export const SECRETS_HELP =
  `Credentials come from a file (--config, --creds, --context) or from JETROW_PASSWORD, JETROW_TOKEN, JETROW_JWT and
JETROW_NKEY_SEED, never from the command line. NATS_CONTEXT, NATS_URL and NATS_CREDS are used if no option and no
JETROW_ variable gives the value. Write durations as in 5s, 1m30s or 100ms.`;
