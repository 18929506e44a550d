import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { connect } from "../../src/runtime/deno.ts";
import type { Finding, FindingCode, Severity } from "../../src/stream/checks/finding.ts";
import { inspect } from "../../src/stream/checks/inspect.ts";
import type { Options } from "../../src/types/mod.ts";
import {
  api,
  createConsumer,
  createStream,
  natsServerVersion,
  olderThan,
  publishAcked,
  startNatsServer,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { theOne } from "./_findings.ts";

const server = await natsServerVersion();
const skipOld = olderThan("2.15.0", server, "inspect() on readers with every fault");
const skipTransform = olderThan("2.10.0", server, "inspect() on the readers of a transformed stream");

/** A consumer with a fault, and the finding that shows it. */
interface Fault {
  readonly code: FindingCode;
  readonly severity: Severity;
  readonly field: string;
  /** The consumer's configuration without its name; it is durable unless set otherwise. */
  readonly consumer?: Readonly<Record<string, unknown>>;
  /** The stream's configuration without name and subjects. */
  readonly stream?: Readonly<Record<string, unknown>>;
  readonly options?: Partial<Options>;
  /** How many rows are published. */
  readonly rows?: number;
  /** What the test then does with the consumer. */
  readonly then?: (nc: NatsConnection, stream: string) => Promise<unknown>;
  readonly shows?: RegExp;
}

const FAULTS: readonly Fault[] = [
  {
    code: "consumer.filter_miss",
    severity: "info",
    field: "filter_subject",
    consumer: { filter_subject: "other.>" },
    stream: { more: ["other.>"] },
  },
  {
    code: "consumer.filter_miss",
    severity: "info",
    field: "filter_subjects",
    consumer: { filter_subjects: ["other.a", "other.b"] },
    stream: { more: ["other.>"] },
  },
  // Consumers match the subject after the transform.
  {
    code: "consumer.filter_empty",
    severity: "warning",
    field: "filter_subject",
    consumer: { filter_subject: "nothing.here" },
    stream: { subject_transform: { src: ">", dest: "stored.>" } },
  },
  { code: "consumer.ack_none", severity: "warning", field: "ack_policy", consumer: { ack_policy: "none" } },
  {
    code: "consumer.ephemeral",
    severity: "info",
    field: "durable_name",
    consumer: { durable_name: undefined, deliver_policy: "new" },
    shows: /\(new\)/,
  },
  { code: "consumer.redelivering", severity: "warning", field: "num_redelivered", rows: 1, then: refuseOnce },
  { code: "consumer.max_deliver", severity: "warning", field: "max_deliver", consumer: { max_deliver: 3 }, shows: /3/ },
  { code: "consumer.no_backoff", severity: "info", field: "backoff" },
  {
    code: "consumer.full",
    severity: "warning",
    field: "num_ack_pending",
    consumer: { max_ack_pending: 2 },
    rows: 3,
    then: (nc, stream) => pull(nc, stream, 2),
    shows: /2/,
  },
  {
    code: "consumer.narrow",
    severity: "warning",
    field: "max_ack_pending",
    consumer: { max_ack_pending: 5, max_batch: 10 },
    shows: /5.*10/,
  },
  {
    code: "consumer.narrow",
    severity: "warning",
    field: "max_ack_pending",
    consumer: { max_ack_pending: 1 },
    then: waitingPulls,
    shows: /num_waiting is 2/,
  },
  {
    code: "consumer.paused",
    severity: "warning",
    field: "pause_until",
    consumer: { pause_until: "2999-01-01T00:00:00Z" },
    shows: /2999/,
  },
  {
    code: "consumer.priority_groups",
    severity: "warning",
    field: "priority_groups",
    consumer: { priority_groups: ["a", "b"], priority_policy: "overflow" },
    shows: /a, b/,
  },
  { code: "consumer.behind", severity: "info", field: "num_pending", rows: 3, shows: /3/ },
  {
    code: "consumer.behind",
    severity: "warning",
    field: "num_pending",
    rows: 3,
    stream: { max_age: 3600e9 },
    shows: /max_age/,
  },
  {
    code: "consumer.behind",
    severity: "warning",
    field: "num_pending",
    rows: 3,
    stream: { max_msgs: 5 },
    shows: /discard-old/,
  },
  {
    code: "consumer.ttl",
    severity: "warning",
    field: "num_pending",
    rows: 1,
    stream: { allow_msg_ttl: true },
    options: { ttl: "1m" },
  },
  { code: "consumer.single_copy", severity: "warning", field: "mem_storage", consumer: { mem_storage: true } },
];

Deno.test({
  name: "inspect() finds every consumer fault on a real consumer",
  ignore: skipOld,
  async fn(t) {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    for (const [i, fault] of FAULTS.entries()) {
      await t.step(`${fault.code} (${fault.severity}, ${fault.field})`, async () => {
        const name = `S${i}`;
        const { more = [], ...config } = fault.stream ?? {};
        await createStream(nc, { name, subjects: [`${name}.>`, ...more as string[]], ...config });
        await createConsumer(nc, name, { name: "reader", durable_name: "reader", ...fault.consumer });
        await publishAcked(nc, `${name}.a`, Array(fault.rows ?? 0).fill("{}"));
        await fault.then?.(nc, name);
        const options = { stream: name, subject: `${name}.{resource}`, ...fault.options };
        const found = await inspect(nc, options);
        const { severity, field, message, consumer } = theOne(found, fault.code);
        assert.deepEqual([severity, field, consumer], [fault.severity, fault.field, "reader"]);
        assert.match(message, fault.shows ?? /reader/);
        await api(nc, `STREAM.DELETE.${name}`);
      });
    }
  },
});

Deno.test({
  name: "inspect() finds nothing wrong with a healthy consumer, and matches filters after a transform",
  ignore: skipTransform,
  fn: async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await createStream(nc, {
      name: "STORED",
      subjects: ["in.>"],
      subject_transform: { src: "in.*", dest: "stored.{{wildcard(1)}}" },
    });
    await createConsumer(nc, "STORED", {
      name: "reader",
      durable_name: "reader",
      filter_subject: "stored.a",
      backoff: [1e9],
      max_deliver: 2,
    });
    const found = await inspect(nc, { stream: "STORED", subject: "in.{resource}" });
    assert.deepEqual(readers(found), ["consumer.max_deliver"]);
  },
});

Deno.test("inspect() finds the consumers of every page", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "MANY", subjects: ["many"] });
  // The server returns 256 consumers per page.
  for (let i = 0; i < 300; i++) await createConsumer(nc, "MANY", { name: `c${i}`, ack_policy: "none" });
  const found = await inspect(nc, { stream: "MANY", subject: "many" });
  const named = new Set(found.flatMap(({ code, consumer }) => code === "consumer.ack_none" ? [consumer] : []));
  assert.equal(named.size, 300);
});

/** Pulls `batch` rows without acknowledging them; returns their reply subjects. */
async function pull(nc: NatsConnection, stream: string, batch: number): Promise<string[]> {
  const replies: string[] = [];
  const inbox = `_INBOX.pull.${stream}.${crypto.randomUUID()}`;
  const sub = nc.subscribe(inbox, { max: batch });
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.reader`, JSON.stringify({ batch }), { reply: inbox });
  for await (const { reply } of sub) replies.push(reply!);
  return replies;
}

/** Makes the stream refuse one row, and accept rows again. */
async function refuseOnce(nc: NatsConnection, stream: string): Promise<void> {
  const [reply] = await pull(nc, stream, 1);
  nc.publish(reply!, "-NAK");
  await pull(nc, stream, 1);
}

async function waitingPulls(nc: NatsConnection, stream: string): Promise<void> {
  for (const n of [1, 2]) {
    const body = JSON.stringify({ batch: 1, expires: 30e9 });
    const reply = `_INBOX.wait.${n}`;
    nc.subscribe(reply, { callback: () => {} });
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.reader`, body, { reply });
  }
  await until("both pulls to wait", async () => {
    return (await api(nc, `CONSUMER.INFO.${stream}.reader`)).num_waiting === 2;
  });
}

function readers(findings: readonly Finding[]): FindingCode[] {
  return findings.filter(({ consumer }) => consumer !== undefined).map(({ code }) => code);
}
