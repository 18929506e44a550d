/**
 * TCP and TLS by `@nats-io/transport-node`, which Node, Bun and Deno run.
 *
 * @module
 */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/transport-node";
import { nodeResolveHost, NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { conceal } from "./conceal.ts";
import type { Witness } from "./dial.ts";

/** A server's address, as the client resolved it. */
interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly tlsName: string;
}

/**
 * The transport, with an ear on its sockets that stays. The original takes all listeners off a socket when a step is
 * done and before it destroys it; an error that arrives without a listener ends the process: `read ECONNRESET` after
 * a refused login (Deno, 4 of 40), `CertificateRequired` in one read with the end of the handshake (Deno, always).
 */
class WitnessedTransport extends NodeTransport {
  #witness: Witness | undefined;

  override connect(server: Address, options: ConnectionOptions): Promise<void> {
    this.#witness = (options as { readonly witness?: Witness }).witness;
    return super.connect(server, options);
  }

  override async dial(server: Address): Promise<Socket> {
    return this.#listen(await super.dial(server));
  }

  override tlsFirst(server: Address): Promise<TLSSocket> {
    return this.#handshake({ host: server.hostname, port: server.port });
  }

  override startTLS(): Promise<TLSSocket> {
    return this.#handshake({ socket: this.socket });
  }

  override close(error?: Error): Promise<void> {
    if (error !== undefined) this.#note(error);
    return super.close(error);
  }

  /** A server says why it closes; the client drops that for the reset that follows. */
  override setupHandlers(): void {
    super.setupHandlers();
    const socket = this.socket;
    let text = "";
    const listen = (frame: Uint8Array): void => {
      if (this.#witness?.connected !== false) return void socket.off("data", listen);
      text += new TextDecoder().decode(frame);
      const [, said] = /^-ERR '([^\r\n]*)'\r\n/m.exec(text) ?? [];
      if (said !== undefined) this.#note(Object.assign(new Error(said), { name: "ProtocolError" }));
    };
    this.yields.forEach(listen);
    socket.on("data", listen);
  }

  async #handshake(over: { socket: Socket } | { host: string; port: number }): Promise<TLSSocket> {
    const { ca, cert, key } = this.options.tls ?? {};
    const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
    // An address has no name of its own to send: the certificate is then checked against the address.
    const servername = this.tlsName === "" ? {} : { servername: this.tlsName };
    return await new Promise((resolve, reject) => {
      const socket = this.#listen(connectTls({ ...certificates, ...servername, ...over, rejectUnauthorized: true }));
      if (key !== undefined) conceal(socket, key);
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
}

/**
 * Dials over TCP or TLS.
 *
 * @param options options of the NATS client, with a witness
 * @returns the connection
 * @example
 * ```ts ignore
 * const nc = await connectNode({ servers: ["nats://127.0.0.1:4222"] });
 * ```
 */
export function connectNode(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new WitnessedTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options) as Promise<NatsConnection>;
}
