import type { StreamConfig } from "@nats-io/jetstream";
import { managerOf, type NatsServer, startNatsServer } from "../_support/nats/mod.ts";
import { playOnServer, type ServerFault, type ServerScene } from "./_server.ts";

type Changed = Omit<ServerFault, "server">;

const update = (config: Partial<StreamConfig>) => ({ admin }: ServerScene) =>
  admin(async (nc) => void await (await managerOf(nc)).streams.update("ORDERS", config));
const remove = ({ admin }: ServerScene) =>
  admin(async (nc) => void await (await managerOf(nc)).streams.delete("ORDERS"));
const create = ({ admin }: ServerScene) =>
  admin(async (nc) => {
    await (await managerOf(nc)).streams.add({ name: "ORDERS", subjects: ["orders.>"] });
  });

const CHANGES: Readonly<Record<string, Changed>> = {
  "is deleted": {
    act: remove,
    kept: false,
    expected: { code: "publish.no_responders", serverCode: 503 },
  },
  "is deleted and recreated": {
    act: async (scene) => {
      await remove(scene);
      await create(scene);
    },
    kept: false,
    expected: { code: ["publish.no_responders", "publish.stream_changed"] },
  },
  "is deleted and recreated, with retry": {
    act: async (scene) => {
      await remove(scene);
      await create(scene);
    },
    options: { retry: { budget: "90s" } },
    kept: false,
    expected: { code: "publish.stream_changed", outcome: "uncertain" },
  },
  "is sealed": {
    act: update({ sealed: true }),
    expected: { code: "publish.rejected", serverCode: 10109, outcome: "partial" },
    replay: false,
  },
  "loses its subject": {
    act: update({ subjects: ["other.>"] }),
    repair: update({ subjects: ["orders.>"] }),
    expected: { code: "publish.no_responders", serverCode: 503, outcome: "partial" },
  },
  "loses its subject to another stream": {
    act: async (scene) => {
      await update({ subjects: ["other.>"] })(scene);
      await scene.admin(async (nc) => {
        await (await managerOf(nc)).streams.add({ name: "OTHER", subjects: ["orders.>"] });
      });
    },
    repair: async (scene) => {
      await scene.admin(async (nc) => void await (await managerOf(nc)).streams.delete("OTHER"));
      await update({ subjects: ["orders.>"] })(scene);
    },
    expected: { code: ["publish.no_responders", "publish.wrong_stream"], outcome: "partial" },
  },
  "takes smaller rows only": {
    act: update({ max_msg_size: 50 }),
    repair: update({ max_msg_size: -1 }),
    expected: { code: "publish.rejected", serverCode: 10054, outcome: "partial" },
  },
  "stops acknowledging": {
    act: update({ no_ack: true }),
    repair: update({ no_ack: false }),
    options: { publishTimeout: 5000 },
    expected: { code: "publish.timeout", outcome: "uncertain" },
  },
  "is full and discards what is new": {
    stream: { max_msgs: 1000, discard: "new" as StreamConfig["discard"] },
    act: () => {},
    repair: update({ max_msgs: -1 }),
    expected: { code: "publish.rejected", serverCode: 10077, outcome: "partial", counts: { acked: 1000 }, row: 1000 },
  },
  "is full of bytes and discards what is new": {
    stream: { max_bytes: 300_000, discard: "new" as StreamConfig["discard"] },
    act: () => {},
    repair: update({ max_bytes: -1 }),
    expected: { code: "publish.rejected", serverCode: 10077, outcome: "partial" },
  },
};

for (const [what, fault] of Object.entries(CHANGES)) {
  Deno.test(`publish() into a stream that ${what} meanwhile fails, and reports every row's outcome`, async () => {
    await using server: NatsServer = await startNatsServer();
    await playOnServer({ ...fault, server });
  });
}
