/**
 * Lists of servers as NATS clients accept them.
 *
 * @module
 */

/**
 * Returns the URLs of a list that is written for NATS clients: separated by commas, white space around them, a slash after
 * them, and `nats://` may be missing.
 */
export function serversOf(list: string): string | readonly string[] {
  const servers = list.split(",").map((server) => server.trim().replace(/\/$/, "")).filter((server) => server !== "");
  // The rule of the option refuses the list, and shows it as it was written.
  if (servers.length === 0) return list;
  return servers.map((server) => server.includes("://") ? server : `nats://${server}`);
}
