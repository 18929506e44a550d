/**
 * Certificates for tests, made by `openssl`.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./build_folder.ts";
import { printMissing } from "../missing_tool.ts";

/** A certificate and its key, as PEM strings. */
export interface Certificate {
  /** The certificate. */
  readonly cert: string;
  /** Its key. */
  readonly key: string;
}

/** An authority and the certificates that it has signed. */
export interface Certificates {
  /** The authority's certificate, which clients trust. */
  readonly ca: string;
  /** For a server. */
  readonly server: Certificate;
  /** For a client. */
  readonly client: Certificate;
}

/** Names in the certificates. */
export interface CertificateOptions {
  /** The names and addresses of the server. @default {["localhost", "127.0.0.1"]} */
  readonly hosts?: readonly string[];
  /** The client's name. @default {"client"} */
  readonly client?: string;
}

/** Whether tests of TLS must be skipped because there is no `openssl`; prints it if so. */
export function opensslMissing(what: string): boolean {
  const missing = spawnSync("openssl", ["version"]).error !== undefined;
  if (missing) printMissing(what, "openssl is not installed");
  return missing;
}

/**
 * Makes a new authority, and a server's and a client's certificate, valid for two days.
 *
 * @param options names in the certificates
 * @returns the certificates
 */
export async function makeCertificates(options: CertificateOptions = {}): Promise<Certificates> {
  const folder = mkdtempSync(join(tmpdir(), "jetrow-certificates-"));
  try {
    const openssl = (...args: string[]) => run(["openssl", ...args], { within: 30_000, cwd: folder });
    const read = (file: string) => readFileSync(join(folder, file), "utf8");
    const names = (options.hosts ?? ["localhost", "127.0.0.1"]).map((host) =>
      `${isAddress(host) ? "IP" : "DNS"}:${host}`
    );

    await openssl(
      "req",
      "-x509",
      ...newKey("ca"),
      "-days",
      "2",
      "-subj",
      "/CN=jetrow test authority",
      "-out",
      "ca.crt",
    );
    const sign = async (name: string, subject: string, extensions: string): Promise<Certificate> => {
      writeFileSync(join(folder, `${name}.ext`), extensions);
      await openssl("req", ...newKey(name), "-subj", `/CN=${subject}`, "-out", `${name}.csr`);
      const by = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
      await openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        ...by,
        "-days",
        "2",
        "-extfile",
        `${name}.ext`,
        "-out",
        `${name}.crt`,
      );
      return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
    };
    return {
      server: await sign("server", "nats-server", `subjectAltName=${names.join()}\nextendedKeyUsage=serverAuth\n`),
      client: await sign("client", options.client ?? "client", "extendedKeyUsage=clientAuth\n"),
      ca: read("ca.crt"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function newKey(name: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}.key`];
}

function isAddress(host: string): boolean {
  return /^[\d.]+$|:/.test(host);
}
