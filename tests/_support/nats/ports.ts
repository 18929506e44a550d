/**
 * Ports for test servers.
 *
 * @module
 */

import { createServer } from "node:net";

/**
 * Ports below the range that kernels use for outgoing connections (Linux 32768, macOS 49152), so that no client can
 * take a server's port during its restart.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;

const taken = new Set<number>();

/**
 * Finds ports on 127.0.0.1 without a listener, never the same one twice in a process. Another process may still bind
 * one first: callers must be ready to try again.
 *
 * @param count the number of ports
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
