/**
 * The client behind the scripted connection.
 *
 * @module
 */

import type {
  Payload,
  PublishOptions,
  RequestOptions,
  ServerInfo,
  Status,
  SubscriptionOptions,
} from "@nats-io/nats-core";
import { ClosedConnectionError, InvalidArgumentError, RequestError, TimeoutError } from "@nats-io/nats-core";
import type { Msg } from "@nats-io/nats-core";
import { type Answer, bodyOf, messageOf, type Published } from "./answers.ts";
import type { Asked, FakeConnectionOptions } from "./connection.ts";
import { FakeSubscription } from "./subscription.ts";
import { FrameSplitter } from "../nats/mod.ts";
import { PushQueue } from "./push_queue.ts";

type Script =
  & Required<Pick<FakeConnectionOptions, "frames" | "answers" | "requests" | "manual" | "flush">>
  & { readonly info: ServerInfo; readonly inboxPrefix: string | undefined };

interface Waiting {
  readonly published: Published;
  readonly answer: Answer;
}

/** The parts of a NatsConnection that a publisher uses; other parts are not scripted. */
export class FakeClient {
  readonly info: ServerInfo;
  readonly options: { readonly inboxPrefix?: string };
  readonly protocol?: { sendCommand(bytes: Uint8Array): void; outMsgs: number; outBytes: number };
  readonly published: Published[] = [];
  readonly asked: Asked[] = [];
  readonly calls: string[] = [];
  waiting: Waiting[] = [];
  readonly #script: Script;
  readonly #subscriptions: FakeSubscription[] = [];
  readonly #statuses: PushQueue<Status>[] = [];
  readonly #requests = new Set<(reason: Error) => void>();
  readonly #splitter = new FrameSplitter();
  #outbound: (() => void)[] = [];
  #turn = false;
  #closed = false;
  #resolve: (reason: void | Error) => void = () => {};
  readonly #gone = new Promise<void | Error>((resolve) => this.#resolve = resolve);

  constructor(script: Script) {
    this.#script = script;
    this.info = script.info;
    this.options = script.inboxPrefix === undefined ? {} : { inboxPrefix: script.inboxPrefix };
    if (script.frames) this.protocol = { sendCommand: (bytes) => this.#frames(bytes), outMsgs: 0, outBytes: 0 };
  }

  // --- What a publisher calls ---------------------------------------------------------------------------------------

  publish(subject: string, payload: Payload = "", options: PublishOptions = {}): void {
    this.#refuseWhenClosed();
    const headers = (options.headers as { encode?(): Uint8Array } | undefined)?.encode?.() ?? new Uint8Array();
    const data = bodyOf(payload);
    if (headers.length + data.length > this.info.max_payload) {
      throw InvalidArgumentError.format("payload", "max_payload size exceeded");
    }
    this.calls.push(`publish ${subject}`);
    // As in the real client, the bytes are kept by reference, and read when they are written.
    this.#send(() => this.#arrive(subject, options.reply ?? "", headers, data));
  }

  subscribe(subject: string, options: SubscriptionOptions = {}): FakeSubscription {
    this.#refuseWhenClosed();
    this.calls.push(`subscribe ${subject}`);
    const sub = new FakeSubscription(subject, this.#subscriptions.length + 1, options, () => {
      this.calls.push(`unsubscribe ${subject}`);
    });
    this.#subscriptions.push(sub);
    return sub;
  }

  request(subject: string, payload: Payload = "", options: Partial<RequestOptions> = {}): Promise<Msg> {
    if (this.#closed) return Promise.reject(new ClosedConnectionError());
    this.calls.push(`request ${subject}`);
    const asked = { subject, body: new TextDecoder().decode(bodyOf(payload)) };
    this.asked.push(asked);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new TimeoutError())), options.timeout ?? 1_000);
      const fail = (reason: Error) => settle(() => reject(reason));
      const settle = (how: () => void) => {
        clearTimeout(timer);
        this.#requests.delete(fail);
        how();
      };
      this.#requests.add(fail);
      const answer = this.#script.requests(asked);
      if (answer instanceof Error) queueMicrotask(() => fail(answer));
      else if (answer !== undefined) {
        queueMicrotask(() => settle(() => resolve(messageOf({ body: answer }, options.reply ?? "_INBOX.fake", 0))));
      }
    });
  }

  async flush(): Promise<void> {
    this.#refuseWhenClosed();
    this.calls.push("flush");
    this.#write();
    await this.#script.flush();
    this.#refuseWhenClosed();
  }

  close(): Promise<void> {
    this.calls.push("close");
    this.#end();
    return Promise.resolve();
  }

  drain(): Promise<void> {
    this.#write();
    return this.close();
  }

  async closed(): Promise<void | Error> {
    return await this.#gone;
  }

  isClosed(): boolean {
    return this.#closed;
  }

  isDraining(): boolean {
    return false;
  }

  getServer(): string {
    return `${this.info.host}:${this.info.port}`;
  }

  status(): AsyncIterable<Status> {
    const queue = new PushQueue<Status>();
    if (this.#closed) queue.end();
    this.#statuses.push(queue);
    return queue;
  }

  // --- What the script does -----------------------------------------------------------------------------------------

  /** The subscriptions that have not ended. */
  open(): FakeSubscription[] {
    return this.#subscriptions.filter((sub) => !sub.isClosed());
  }

  /** Adds an answer after those that wait. */
  queue(published: Published, answer: Answer): void {
    for (let i = 0; i < (answer.times ?? 1); i++) this.waiting.push({ published, answer });
    if (!this.#script.manual) this.#soon();
  }

  /** Delivers the waiting answers that `choose` selects; the others keep waiting. */
  deliver(choose: <T>(waiting: readonly T[]) => readonly T[]): void {
    this.#write();
    const now = choose(this.waiting);
    this.waiting = this.waiting.filter((one) => !now.includes(one));
    for (const { published, answer } of now) this.#deliver(published, answer);
  }

  emit(status: Status): void {
    for (const queue of this.#statuses) queue.push(status);
  }

  disconnect(): void {
    this.#outbound = [];
    this.waiting = [];
    this.emit({ type: "disconnect", server: this.getServer() });
    this.emit({ type: "reconnecting" });
  }

  lose(reason?: Error): void {
    this.#outbound = [];
    this.waiting = [];
    this.emit({ type: "disconnect", server: this.getServer() });
    this.#end(reason);
  }

  // --- How it works -------------------------------------------------------------------------------------------------

  #end(reason?: Error): void {
    if (this.#closed) return;
    this.#write();
    this.#closed = true;
    for (const fail of this.#requests) fail(new RequestError("connection closed"));
    for (const sub of this.open()) sub.end(reason);
    this.emit({ type: "close" });
    for (const queue of this.#statuses) queue.end();
    this.#resolve(reason);
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new ClosedConnectionError();
  }

  #send(arrive: () => void): void {
    this.#outbound.push(arrive);
    this.#soon();
  }

  #soon(): void {
    if (this.#turn) return;
    this.#turn = true;
    queueMicrotask(() => {
      this.#turn = false;
      if (this.#script.manual) this.#write();
      else this.deliver((waiting) => waiting);
    });
  }

  /** Writes the sent messages to the server. */
  #write(): void {
    const outbound = this.#outbound;
    this.#outbound = [];
    for (const arrive of outbound) arrive();
  }

  #frames(bytes: Uint8Array): void {
    this.#refuseWhenClosed();
    this.calls.push(`frames ${bytes.length}`);
    this.#send(() => {
      for (const { op, args, headers, payload } of this.#splitter.push(bytes)) {
        if (!op.endsWith("PUB")) throw new Error(`a frame that publishes nothing: ${op} ${args.join(" ")}`);
        const reply = args.length === (op === "HPUB" ? 4 : 3) ? args[1]! : "";
        this.#arrive(args[0]!, reply, headers ?? new Uint8Array(), payload!);
      }
    });
  }

  #arrive(subject: string, reply: string, headers: Uint8Array, data: Uint8Array): void {
    const published = { subject, reply, headers: headers.slice(), data: data.slice(), index: this.published.length };
    this.published.push(published);
    const answers = this.#script.answers(published) ?? [];
    for (const answer of Array.isArray(answers) ? answers : [answers]) this.queue(published, answer);
  }

  #deliver(published: Published, answer: Answer): void {
    const subject = answer.subject ?? published.reply;
    for (const sub of this.#subscriptions) {
      if (sub.isClosed() && !answer.late) continue;
      if (sub.matches(subject)) sub.receive(messageOf(answer, subject, sub.getID()));
    }
  }
}
