/** Dials servers that refuse, many times; the tests run this in a process of its own, on each runtime. */

import process from "node:process";

/**
 * Dials a server with a wrong token, and a port without a listener, and prints how often each error occurred.
 *
 * @param connect the runtime's `connect`
 * @param url a server that requires another token
 * @param dead a port without a listener
 */
export async function countRefusals(connect: (config: never) => Promise<unknown>, url: string, dead: string) {
  const codes: Record<string, number> = {};
  for (let i = 0; i < 60; i++) {
    for (const one of [url, `nats://127.0.0.1:${dead}`]) {
      const outcome = await connect({ url: one, authMode: "token", token: "wrong-7s1cr3t" } as never).then(
        () => "connected",
        (error: { code: string; message: string }) => error.message.includes(one) ? error.code : error.message,
      );
      codes[outcome] = (codes[outcome] ?? 0) + 1;
    }
  }
  // Errors that a socket emits after its dial has failed are emitted by now.
  await new Promise((soon) => setTimeout(soon, 200));
  process.stdout.write(JSON.stringify(codes));
}
