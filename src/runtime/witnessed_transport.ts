/**
 * The transport of `@nats-io/transport-node`, extended by listeners that record why a dial fails.
 *
 * @module
 */

import type { ConnectionOptions } from "@nats-io/nats-core";
import type { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Witness } from "./dial.ts";

/** A server's address, as the client resolved it. */
interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly tlsName: string;
}

type Base = typeof NodeTransport;

/** The methods of the private class that are overridden or relied upon. */
export const OVERRIDDEN = ["connect", "dial", "tlsFirst", "startTLS", "close", "setupHandlers"] as const;

/** Returns whether `base` is a class with everything that {@linkcode witnessedTransport} overrides and reads. */
export function isExtensible(base: unknown): base is Base {
  if (typeof base !== "function") return false;
  const { prototype } = base as { prototype?: Record<string, unknown> };
  if (OVERRIDDEN.some((name) => typeof prototype?.[name] !== "function")) return false;
  const { yields, tlsName } = new (base as Base)() as unknown as { yields?: unknown; tlsName?: unknown };
  return Array.isArray(yields) && typeof tlsName === "string";
}

/**
 * Returns a subclass of `base` with an error listener on each socket that stays for the socket's life. The original
 * removes all listeners when a step is done and before it destroys a socket; an error that arrives without a listener
 * ends the process: `read ECONNRESET` after a refused login (Deno, 4 of 40), `CertificateRequired` in one read with
 * the end of the handshake (Deno, always).
 */
export function witnessedTransport(base: Base): Base {
  return class WitnessedTransport extends base {
    #witness: Witness | undefined;
    #host = "";

    override connect(server: Address, options: ConnectionOptions): Promise<void> {
      this.#witness = (options as { readonly witness?: Witness }).witness;
      this.#host = server.hostname;
      return super.connect(server, options);
    }

    override async dial(server: Address): Promise<Socket> {
      return this.#listen(await super.dial(server));
    }

    override tlsFirst(server: Address): Promise<TLSSocket> {
      return this.#handshake({ port: server.port });
    }

    override startTLS(): Promise<TLSSocket> {
      return this.#handshake({ socket: this.socket });
    }

    override close(error?: Error): Promise<void> {
      if (error !== undefined) this.#note(error);
      return super.close(error);
    }

    /** Records that a server closes, and its reason: the client reports "connection refused" or a reset. */
    override setupHandlers(): void {
      super.setupHandlers();
      const socket = this.socket;
      let text = "";
      const listen = (frame: Uint8Array): void => {
        if (this.#witness?.connected !== false) return void socket.off("data", listen);
        text += new TextDecoder().decode(frame);
        const [, reason] = /^-ERR '([^\r\n]*)'\r\n/m.exec(text) ?? [];
        if (reason !== undefined) this.#note(Object.assign(new Error(reason), { name: "ProtocolError" }));
      };
      this.yields.forEach(listen);
      socket.on("data", listen);
      socket.on("end", () => this.#note(new Error("the server closed the connection before the login was complete")));
    }

    async #handshake(over: { socket: Socket } | { port: number }): Promise<TLSSocket> {
      const { ca, cert, key } = this.options.tls ?? {};
      const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
      // An address has no server name to send. Without `host` the certificate would be checked against "localhost".
      const identity = { host: this.#host, ...(this.tlsName !== "" && { servername: this.tlsName }) };
      return await new Promise((resolve, reject) => {
        const socket = this.#listen(connectTls({ ...certificates, ...identity, ...over, rejectUnauthorized: true }));
        socket.setNoDelay(true);
        socket.on("error", reject);
        socket.on("close", () => reject(new Error("the server closed the connection within the TLS handshake")));
        socket.on("secureConnect", () => {
          socket.removeAllListeners();
          if (socket.authorized) resolve(socket);
          else reject(socket.authorizationError ?? new Error("the server's certificate was not verified"));
        });
      });
    }

    #note(error: unknown): void {
      if (this.#witness?.connected === false) this.#witness.errors.push(error);
    }

    #listen<S extends Socket>(socket: S): S {
      const note = (error: unknown) => this.#note(error);
      const removeAll = socket.removeAllListeners;
      socket.on("error", note);
      socket.removeAllListeners = function (this: S, event?: string | symbol): S {
        if (event === undefined) removeAll.call(this);
        else removeAll.call(this, event);
        if (event === undefined || event === "error") this.on("error", note);
        return this;
      };
      return socket;
    }
  };
}
