/**
 * The reason why a dial failed, without secrets: one reason per server, and one code for all.
 *
 * @module
 */

import { join, option, type Wording, words } from "../errors/wording.ts";
import { ConnectionError, type ConnectionErrorCode } from "../errors/mod.ts";
import { shownUrl } from "../options/servers.ts";

/** The failure of one server. */
export interface Failure {
  /** The server in a form that may be shown: without user info, path and query. */
  readonly server: string;
  /** The kind of failure. */
  readonly code: ConnectionErrorCode;
  /** The reason, for people. */
  readonly reason: string | Wording;
  /** The error, if it contains no secret. */
  readonly cause?: unknown;
}

/** The facts about a failed dial. */
export interface FailedDial {
  /** The server's URL. */
  readonly url: string;
  /** Every error that was thrown: one address of a host may refuse the login, the next not exist. */
  readonly errors: readonly unknown[];
  /** The duration of the wait, in milliseconds. */
  readonly timeout: number;
  /** Whether TLS was required. */
  readonly tls: boolean;
  /** Strings that must not appear in an error. */
  readonly secrets: readonly string[];
}

/** From the most specific code to the least specific: a server that refused the login was at least reached. */
const BY_SPECIFICITY: readonly ConnectionErrorCode[] = [
  "connection.auth",
  "connection.permission",
  "connection.tls",
  "connection.timeout",
  "connection.refused",
];

/** The maximum length of a server's or the runtime's message that is repeated. */
const LONGEST = 200;

/** The messages of OpenSSL, rustls, BoringSSL and the client for a TLS failure. */
const TLS_WORDS = new RegExp(
  [
    String.raw`certificate|\btls\b|\bssl\b|_SSL_|_TLS_|CERT_|handshake|\balert\b|unknownissuer|self.signed|altnames`,
    String.raw`wrong.version.number|invalidcontenttype|unable to verify|routines|unsupported protocol|\bPEM\b|EPROTO`,
    "BoringSSL",
  ].join("|"),
  "i",
);

/** Explanations of the libraries' TLS messages. */
const TLS_REASONS: readonly (readonly [pattern: RegExp, reason: string | Wording])[] = [
  [
    /wrong.version.number|invalidcontenttype|packet length too long|unsupported protocol/i,
    words`the server's answer is not TLS: it may expect a plain connection first (${option("tls.handshakeFirst")} off)`,
  ],
  [
    /certificate.required|certificaterequired/i,
    words`the server requires a client certificate (${option("tls.cert")} and ${option("tls.key")})`,
  ],
  [
    /unable to (?:verify the first|get (?:local )?issuer) certificate|unknownissuer|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/i,
    words`the server's certificate is not signed by a known authority (${option("tls.ca")} adds one)`,
  ],
  [
    /self.signed certificate/i,
    words`the server's certificate is self-signed, or its authority is not known (${option("tls.ca")} adds one)`,
  ],
  [/certificate (?:has )?expired|CERT_HAS_EXPIRED/i, "the server's certificate has expired"],
];

const WITHHELD = "an answer that repeats a credential, withheld here";

const NETWORK_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "no such host",
  EPIPE: "the connection was reset",
  ERR_STREAM_WRITE_AFTER_END: "the connection was closed",
  EAI_AGAIN: "the host's name could not be looked up",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network cannot be reached",
};

/** Returns the most specific failure of one server. */
export function readFailure(dial: FailedDial): Failure {
  const errors = dial.errors.length > 0 ? dial.errors : [undefined];
  const secrets = [...dial.secrets, pathOf(dial.url)];
  const failures = errors.map((error) => ({ server: shownUrl(dial.url), ...reasonOf(error, { ...dial, secrets }) }));
  return mostSpecific(failures) as Failure;
}

/** Returns the error of a dial without a usable server. It names every server that was tried, each with its reason. */
export function connectionError(failures: readonly Failure[]): ConnectionError {
  const worst = mostSpecific(failures);
  const list = join(failures.map(({ server, reason }) => words`${server}: ${reason}`), "; ");
  const whom = failures.length === 1 ? "to" : `to any of ${failures.length} servers:`;
  return new ConnectionError(
    worst?.code ?? "connection.refused",
    words`Cannot connect ${whom} ${list}`,
    worst?.cause === undefined ? {} : { cause: worst.cause },
  );
}

/** Returns path and query of a WebSocket's URL, which may hold a token; empty if there is nothing to hide. */
function pathOf(url: string): string {
  const path = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(url.trim())?.[1] ?? "";
  return path === "/" ? "" : path;
}

function mostSpecific(failures: readonly Failure[]): Failure | undefined {
  return failures.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** For the same code, the server's own message is preferred to the runtime's. */
function rank({ code, cause }: Failure): number {
  return 2 * BY_SPECIFICITY.indexOf(code) + (cause instanceof Error && cause.name === "ProtocolError" ? 0 : 1);
}

/** Returns our own reasons in any case; the server's and the runtime's only if they repeat no secret. */
function reasonOf(error: unknown, dial: FailedDial): Pick<Failure, "code" | "reason" | "cause"> {
  const { code, reason = WITHHELD } = classify(error, dial);
  return chain(error).some((one) => holdsSecret(one, dial.secrets)) ? { code, reason } : { code, reason, cause: error };
}

function classify(
  error: unknown,
  dial: FailedDial,
): { code: ConnectionErrorCode; reason: string | Wording | undefined } {
  const text = textOf(error);
  const told = dial.secrets.some((secret) => repeats(text, secret)) ? undefined : text;
  const errno = chain(error).map((one) => (one as { code?: unknown }).code).find((code) => typeof code === "string");
  switch (error instanceof Error ? error.name : "") {
    case "AuthorizationError":
    case "UserAuthenticationExpiredError":
      return { code: "connection.auth", reason: told?.toLowerCase() };
    case "PermissionViolationError":
      return { code: "connection.permission", reason: told };
    case "TimeoutError":
      return { code: "connection.timeout", reason: `no answer within ${dial.timeout} ms` };
  }
  if (/not available on this server|does not support 'tls'/.test(text)) {
    return { code: "connection.tls", reason: "TLS is required, and the server does not offer it" };
  }
  if (dial.tls && (errno === "ECONNRESET" || errno === "EPIPE")) {
    // With TLS 1.3 a server refuses a client's certificate after the handshake; the alert may be lost with the reset.
    return { code: "connection.tls", reason: "the connection was reset: the server may want another certificate" };
  }
  const known = typeof errno === "string" ? NETWORK_WORDS[errno] : undefined;
  if (known !== undefined) return { code: "connection.refused", reason: known };
  if (errno === "ETIMEDOUT") return { code: "connection.timeout", reason: "the host did not answer" };
  const shown = `${text} ${errno ?? ""}`;
  const plain = TLS_REASONS.find(([pattern]) => pattern.test(shown))?.[1];
  if (plain !== undefined || TLS_WORDS.test(shown)) return { code: "connection.tls", reason: plain ?? told };
  if (text === "" || text.includes("undefined error")) {
    const hint = dial.url.startsWith("tls:")
      ? words` (if the server starts TLS first, set ${option("tls.handshakeFirst")})`
      : "";
    return { code: "connection.refused", reason: words`the server closed the connection without an answer${hint}` };
  }
  if (text === "unexpected response from server") {
    return { code: "connection.refused", reason: "it is not a NATS server" };
  }
  return { code: "connection.refused", reason: told };
}

/** Returns the message, which may be the server's, on one line, without control characters and truncated. */
function textOf(error: unknown): string {
  const raw = error instanceof Error ? error.message : error === undefined || error === null ? "" : String(error);
  // deno-lint-ignore no-control-regex
  const line = raw.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}

/** Returns the error and its causes. */
function chain(error: unknown): Error[] {
  const found: Error[] = [];
  for (let at = error; at instanceof Error && found.length < 8 && !found.includes(at); at = at.cause) found.push(at);
  return found;
}

function holdsSecret(error: Error, secrets: readonly string[]): boolean {
  const strings = [error.message, error.stack, ...Object.values(error)].filter((value) => typeof value === "string");
  return secrets.some((secret) => strings.some((text) => repeats(text, secret)));
}

function repeats(text: string, secret: string): boolean {
  return secret !== "" && (text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)));
}
