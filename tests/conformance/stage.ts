/** What a check is given, and what several checks do. */

import type { NatsConnection } from "@nats-io/nats-core";
import type { PublishError } from "../../src/errors/mod.ts";
import type { IdScope, SinkConfig } from "../../src/types/mod.ts";
import { equal, ok } from "./assert.ts";

/** The library under test: what every entry exports. */
export type Library = typeof import("../../mod.ts");

/** An entry's own function. */
export type Connect = (config: SinkConfig) => Promise<NatsConnection>;

/** Where a run of the suite finds things. */
export interface Env {
  /** The run's name: its streams and subjects begin with it. */
  readonly name: string;
  /** The server. */
  readonly url: string;
  /** The same server through a proxy that can be told to lose things. */
  readonly proxyUrl: string;
  /** Where nobody listens. */
  readonly deadUrl: string;
}

/** A generated file as it is served. */
export interface GoldenFile {
  readonly name: string;
  /** The Arrow stream, in base64. */
  readonly ipc: string;
  /** The rows' bodies, one a line, in base64; absent: the rows are refused. */
  readonly lines?: string;
  /** Whether flechette reads it wrongly. */
  readonly misread: boolean;
}

/** A vector of message ids. */
export interface IdVector extends IdScope {
  readonly eventId: string;
  readonly identity: string;
  readonly id: string;
}

/** Data that the checks read. */
export interface Fixtures {
  readonly golden: readonly GoldenFile[];
  readonly ids: readonly IdVector[];
}

/** What a check is given. */
export interface Stage {
  readonly library: Library;
  readonly connect: Connect;
  readonly env: Env;
  readonly fixtures: Fixtures;
  /**
   * Tells the proxy what to do: `drop` (answers of the server are swallowed), `cut`, once the server was sent something
   * since.
   */
  tell(order: "drop" | "cut" | "resume"): Promise<void>;
}

/** A configuration for a destination of the check's own. */
export function configOf({ env }: Stage, check: string, more: Partial<SinkConfig> = {}): SinkConfig {
  const stream = `${env.name}_${check}`;
  return { url: env.url, stream, subject: `${stream}.{resource}`, publishTimeout: "20s", ...more };
}

/** Asks JetStream's API past jetrow. */
export async function ask<T>(nc: NatsConnection, api: string, request: unknown = {}): Promise<T> {
  const message = await nc.request(`$JS.API.${api}`, JSON.stringify(request), { timeout: 10_000 });
  const answer = message.json<T & { error?: unknown }>();
  equal(answer.error, undefined, `$JS.API.${api}`);
  return answer;
}

/** A stored message's headers and body. */
export async function stored(nc: NatsConnection, stream: string, seq: number): Promise<{ head: string; body: string }> {
  const { message } = await ask<{ message: { hdrs?: string; data?: string } }>(nc, `STREAM.MSG.GET.${stream}`, { seq });
  const text = (encoded = "") => new TextDecoder().decode(fromBase64(encoded));
  return { head: text(message.hdrs), body: text(message.data) };
}

/** How many messages a stream holds. */
export async function count(nc: NatsConnection, stream: string): Promise<number> {
  return (await ask<{ state: { messages: number } }>(nc, `STREAM.INFO.${stream}`)).state.messages;
}

/** That an error is a PublishError of this code and outcome, and what it says of the rows. */
export function publishError(library: Library, error: unknown, code: string, outcome: string): PublishError {
  ok(library.isJetrowError(error) && error.name === "PublishError", `no PublishError: ${error}`);
  equal([error.code, error.outcome], [code, outcome], error.message);
  return error;
}

/** Bytes of base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
