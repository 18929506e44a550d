/** The data that checks receive, and helpers of several checks. */

import type { NatsConnection } from "@nats-io/nats-core";
import type { PublishError } from "../../src/errors/mod.ts";
import type { IdScope, SinkConfig } from "../../src/types/mod.ts";
import { equal, ok } from "./assert.ts";

/** The library under test: the exports of every entry point. */
export type Library = typeof import("../../mod.ts");

/** The `connect` of an entry point. */
export type Connect = (config: SinkConfig) => Promise<NatsConnection>;

/** The names and addresses of a run of the suite. */
export interface Env {
  /** The run's name, with which its streams and subjects begin. */
  readonly name: string;
  /** The server. */
  readonly url: string;
  /** The same server through a proxy that can drop and cut. */
  readonly proxyUrl: string;
  /** An address without a listener. */
  readonly deadUrl: string;
}

/** A generated file in JSON form. */
export interface GoldenFile {
  readonly name: string;
  /** The Arrow stream, in base64. */
  readonly ipc: string;
  /** The rows' bodies, one per line, in base64; absent: the rows are refused. */
  readonly lines?: string;
  /** Whether flechette reads it incorrectly. */
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

/** What a check receives. */
export interface Stage {
  readonly library: Library;
  readonly connect: Connect;
  readonly env: Env;
  readonly fixtures: Fixtures;
  /**
   * Controls the proxy: `drop` discards what the server sends, `cut` resets the connections once further bytes were
   * sent to the server.
   */
  tell(order: "drop" | "cut" | "resume"): Promise<void>;
}

/** A configuration for the check's own destination. */
export function configOf({ env }: Stage, check: string, more: Partial<SinkConfig> = {}): SinkConfig {
  const stream = `${env.name}_${check}`;
  return { url: env.url, stream, subject: `${stream}.{resource}`, publishTimeout: "20s", ...more };
}

/** Sends a request to JetStream's API without jetrow. */
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

/** Asserts that an error is a PublishError with this code and outcome, and returns it. */
export function publishError(library: Library, error: unknown, code: string, outcome: string): PublishError {
  ok(library.isJetrowError(error) && error.name === "PublishError", `no PublishError: ${error}`);
  equal([error.code, error.outcome], [code, outcome], error.message);
  return error;
}

/** Decodes base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
