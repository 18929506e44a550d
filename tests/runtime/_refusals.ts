/** Dials what refuses, many times; the tests run this in processes of their own, on each runtime. */

import process from "node:process";

/**
 * Dials a server with a wrong token and a dead port, and prints how often each ended how.
 *
 * @param connect the runtime's
 * @param url a server that wants another token
 * @param dead a port that nobody listens on
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
  // What a socket has to say after its dial is over comes now, or never.
  await new Promise((soon) => setTimeout(soon, 200));
  process.stdout.write(JSON.stringify(codes));
}
