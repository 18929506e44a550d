/**
 * Ports for test servers.
 *
 * @module
 */

import { createServer } from "node:net";

/**
 * Below the range from which kernels take the ports of outgoing connections (Linux 32768, macOS 49152), so that no
 * client can take a port while its server is down for a restart.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;

const taken = new Set<number>();

/**
 * Finds ports on 127.0.0.1 that nobody listens on, never the same one twice in a process. Another process may still be
 * faster: who binds them has to be ready to ask again.
 *
 * @param count how many
 * @returns the ports
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
