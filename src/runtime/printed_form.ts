import type { NatsConnection } from "@nats-io/nats-core";

/**
 * Makes `JSON.stringify`, `console.log` and the runtime's inspect print only the server of a connection. A
 * connection holds its socket, and runtimes keep a client's TLS key in enumerable properties of sockets.
 */
export function setPrintedForm(nc: NatsConnection): NatsConnection {
  const parts = () => ({ server: nc.isClosed() ? "" : nc.getServer(), closed: nc.isClosed() });
  const text = () => `NatsConnection ${JSON.stringify(parts())}`;
  const printers = {
    toJSON: parts,
    [Symbol.for("nodejs.util.inspect.custom")]: text,
    [Symbol.for("Deno.customInspect")]: text,
  };
  for (const name of Reflect.ownKeys(printers)) {
    const value = Reflect.get(printers, name);
    Object.defineProperty(nc, name, { value, enumerable: false, configurable: true, writable: true });
  }
  return nc;
}
