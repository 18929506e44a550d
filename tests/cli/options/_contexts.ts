/** A home folder with contexts of the `nats` command. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What `nats context save` writes, with all fields empty. */
const UNUSED = {
  description: "",
  url: "",
  socks_proxy: "",
  token: "",
  user: "",
  password: "",
  creds: "",
  nkey: "",
  cert: "",
  key: "",
  ca: "",
  nsc: "",
  jetstream_domain: "",
  jetstream_api_prefix: "",
  jetstream_event_prefix: "",
  inbox_prefix: "",
  user_jwt: "",
  user_seed: "",
  color_scheme: "",
  tls_first: false,
  windows_cert_store: "",
  windows_cert_match_by: "",
  windows_cert_match: "",
  windows_ca_certs_match: null,
};

/** A home folder with contexts and other files. */
export class Contexts implements Disposable {
  readonly home = mkdtempSync(join(tmpdir(), "jetrow-contexts-"));
  /** The variables under which the command finds the contexts. */
  readonly env = { HOME: this.home };

  /** Writes a context, and returns its path. */
  save(name: string, fields: Record<string, unknown>): string {
    return this.write(`.config/nats/context/${name}.json`, JSON.stringify({ ...UNUSED, ...fields }, undefined, 2));
  }

  /** Writes a file below the home folder, and returns its path. */
  write(name: string, content: string): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true });
  }
}
