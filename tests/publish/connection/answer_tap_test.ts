import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { Kind, Parser, type ParserEvent } from "@nats-io/nats-core/internal";
import fc from "fast-check";
import { tapAnswers } from "../../../src/publish/connection/answer_tap.ts";

const INBOX = "_INBOX.one.";
const text = new TextEncoder();
const decoder = new TextDecoder();

/** The reading side of a connection, with a log of what the client would do. */
function connection(): { readonly nc: NatsConnection; readonly log: string[]; readonly protocol: Protocol } {
  const log: string[] = [];
  const push = (event: ParserEvent): void => {
    if (event.kind === Kind.MSG) log.push(messageLine(event.msg!.subject, event.data!));
    else log.push(`event ${event.kind}`);
  };
  const protocol = { parser: new Parser({ push }), inMsgs: 0, inBytes: 0 };
  return { nc: { protocol } as unknown as NatsConnection, log, protocol };
}

interface Protocol {
  readonly parser: Parser;
  readonly inMsgs: number;
  readonly inBytes: number;
}

function messageLine(subject: Uint8Array, data: Uint8Array): string {
  return `${decoder.decode(subject)} ${decoder.decode(data)}`;
}

const message = (subject: string, body: string, reply = ""): string =>
  `MSG ${subject} 7 ${reply}${text.encode(body).length}\r\n${body}\r\n`;

const arrivals = fc.oneof(
  { weight: 6, arbitrary: fc.nat(99_999).map((token) => message(`${INBOX}${token}`, `{"seq":${token}}`)) },
  {
    weight: 2,
    arbitrary: fc.nat(99).map((token) => message(`_INBOX.two.${token}`, "\r\nMSG _INBOX.one.5 7 1\r\nx\r\n")),
  },
  fc.constantFrom(
    "PING\r\n",
    "PONG\r\n",
    "+OK\r\n",
    "-ERR 'Permissions Violation for Publish to \"a\"'\r\n",
    message(`${INBOX}12a`, "{}"),
    message(`${INBOX}`, "{}"),
    message(`${INBOX}1.2`, "{}"),
    message(`${INBOX}12345678901234567`, "{}"),
    message(`${INBOX}3`, ""),
    message(`${INBOX}4`, "refused"),
    message(`${INBOX}5`, "é\r\n", "reply.to "),
    "msg _INBOX.one.6 7 2\r\nok\r\n",
    `HMSG ${INBOX}7 7 16 18\r\nNATS/1.0 503\r\n\r\nok\r\n`,
  ),
);

/** Splits bytes at the given positions. */
function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], end));
}

Deno.test("tapAnswers() delivers everything that arrives without it, in the same order, however it is split", () => {
  fc.assert(fc.property(
    fc.array(arrivals, { maxLength: 30 }),
    fc.array(fc.nat(4000), { maxLength: 12 }),
    (messages, cuts) => {
      const bytes = text.encode(messages.join(""));
      const plain = connection();
      for (const part of split(bytes, cuts)) plain.protocol.parser.parse(part);
      const tapped = connection();
      let taken = 0;
      tapAnswers(tapped.nc, INBOX, (token, read, start, end) => {
        const body = decoder.decode(read.subarray(start, end));
        if (body === "refused" || !Number.isSafeInteger(token)) return false;
        tapped.log.push(messageLine(text.encode(`${INBOX}${token}`), read.subarray(start, end)));
        taken++;
        return true;
      });
      for (const part of split(bytes, cuts)) tapped.protocol.parser.parse(part);
      assert.deepEqual(tapped.log, plain.log);
      assert.equal(tapped.protocol.inMsgs, taken);
    },
  ));
});

Deno.test("tapAnswers() takes the complete answers of a read, also after the rest of a split one", () => {
  const { nc, log, protocol } = connection();
  const tokens: number[] = [];
  tapAnswers(nc, INBOX, (token) => tokens.push(token) > 0);
  const bytes = text.encode([1, 2, 3, 4].map((token) => message(`${INBOX}${token}`, '{"seq":1}')).join(""));
  const cut = bytes.length / 4 + 20;
  protocol.parser.parse(bytes.slice(0, cut));
  protocol.parser.parse(bytes.slice(cut));
  assert.deepEqual(tokens, [1, 3, 4]);
  assert.deepEqual(log, [`${INBOX}2 {"seq":1}`]);
  assert.deepEqual([protocol.inMsgs, protocol.inBytes], [3, 27]);
});

Deno.test("tapAnswers() takes the answers after PONGs, and leaves the PONGs to the client", () => {
  const { nc, log, protocol } = connection();
  const tokens: number[] = [];
  tapAnswers(nc, INBOX, (token) => tokens.push(token) > 0);
  const [one, two, three] = [1, 2, 3].map((token) => message(`${INBOX}${token}`, "{}"));
  protocol.parser.parse(text.encode(`PONG\r\n${one}PONG\r\nPONG\r\n${two}PING\r\n${three}`));
  assert.deepEqual(tokens, [1, 2]);
  assert.deepEqual(log, [...Array(3).fill(`event ${Kind.PONG}`), `event ${Kind.PING}`, `${INBOX}3 {}`]);
});

Deno.test("tapAnswers() serves several inboxes of one connection, each until its end", () => {
  const { nc, log, protocol } = connection();
  const taken: string[] = [];
  const parse = protocol.parser.parse;
  const ends = ["_INBOX.one.", "_INBOX.two."].map((inbox) =>
    tapAnswers(nc, inbox, (token) => taken.push(`${inbox}${token}`) > 0)
  );
  const read = () => protocol.parser.parse(text.encode(message("_INBOX.two.1", "{}") + message("_INBOX.one.2", "{}")));
  read();
  assert.deepEqual([taken, log], [["_INBOX.two.1", "_INBOX.one.2"], []]);
  ends[1]!();
  read();
  assert.deepEqual(log, ["_INBOX.two.1 {}", "_INBOX.one.2 {}"]);
  ends[0]!();
  assert.equal(protocol.parser.parse, parse);
});

Deno.test("tapAnswers() does not touch a parser with another structure", () => {
  class Other {
    state = 0;
    parse(): void {}
  }
  const protocol = { parser: new Other(), inMsgs: 0, inBytes: 0 };
  const { parse } = protocol.parser;
  tapAnswers({ protocol } as unknown as NatsConnection, INBOX, () => true)();
  assert.equal(protocol.parser.parse, parse);
  tapAnswers({} as NatsConnection, INBOX, () => true)();
});
