import assert from "node:assert/strict";
import { resolveOptions } from "../../../src/options/publisher.ts";
import type { Failure } from "../../../src/publish/call.ts";
import { WireError } from "../../../src/publish/connection/wire.ts";
import { now } from "../../../src/publish/lanes/deadlines.ts";
import { Lane, type LaneHost } from "../../../src/publish/lanes/lane.ts";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** What a lane of a test does; the rest does nothing. */
interface Work {
  outstanding(): boolean;
  nextDue(): number;
  expire(): void;
  submit(): void;
}

class TestLane extends Lane {
  readonly #work: Work;

  constructor(host: LaneHost, work: Work) {
    super(resolveOptions({ stream: "S", subject: "s" }), host);
    this.#work = work;
  }

  readonly inFlightBytes = 0;
  readonly submitted = 0;

  get inFlight(): number {
    return this.#work.outstanding() ? 1 : 0;
  }

  override proceed(): void {
    super.proceed();
  }

  override arm(): void {
    super.arm();
  }

  cancel(): void {}
  reply(): void {}
  protected forget(): void {}

  protected nextDue(): number {
    return this.#work.nextDue();
  }

  protected expire(): void {
    this.#work.expire();
  }

  protected submit(): void {
    this.#work.submit();
  }
}

/** A lane and its log: `submit`, `expire`, `moved`, `drained`, `failed`. */
function scene(work: Partial<Work> = {}): { lane: TestLane; log: string[]; failures: Failure[] } {
  const log: string[] = [];
  const failures: Failure[] = [];
  const host = {
    noteAcknowledged: () => {},
    fail: (failure: Failure) => void (log.push("failed"), failures.push(failure)),
    noteDrained: () => void log.push("drained"),
    noteChange: () => void log.push("moved"),
  };
  const lane = new TestLane(host, {
    outstanding: () => false,
    nextDue: () => Infinity,
    expire: () => void log.push("expire"),
    submit: () => void log.push("submit"),
    ...work,
  });
  return { lane, log, failures };
}

Deno.test("Lane submits once, however often it is woken, and again when it is woken later", async () => {
  const { lane, log } = scene();
  lane.wake();
  lane.proceed();
  lane.wake();
  assert.deepEqual(log, [], "not before the read is over");
  await turn();
  assert.deepEqual(log, ["submit", "moved"]);
  lane.wake();
  await turn();
  assert.deepEqual(log, ["submit", "moved", "submit", "moved"]);
});

Deno.test("a lane that was woken and then stopped submits nothing, and reports when nothing is outstanding", async () => {
  let rows = 1;
  const { lane, log } = scene({ outstanding: () => rows > 0 });
  lane.wake();
  lane.stop();
  await turn();
  assert.deepEqual([lane.stopped, log], [true, []]);
  rows = 0;
  lane.proceed();
  assert.deepEqual(log, [], "not in the middle of a read");
  await turn();
  assert.deepEqual(log, ["drained"]);
});

Deno.test("Lane submits after it expires rows; once stopped it only reports the end", async () => {
  let due = now();
  const { lane, log } = scene({
    nextDue: () => due,
    expire: () => {
      due = Infinity;
      log.push("expire");
    },
  });
  lane.arm();
  while (log.length < 3) await turn();
  assert.deepEqual(log, ["expire", "submit", "moved"]);
  due = now();
  lane.stop();
  while (log.at(-1) !== "drained" || due !== Infinity) await turn();
  await turn();
  assert.deepEqual(log.slice(3), ["drained", "expire", "drained"]);
});

Deno.test("Lane reports a lost connection when the wire throws", async () => {
  const cause = new Error("the socket is gone");
  const { lane, log, failures } = scene({
    submit: () => {
      throw new WireError(cause);
    },
  });
  lane.wake();
  await turn();
  assert.deepEqual(log, ["failed", "moved"]);
  const reason = "the connection is lost: the socket is gone";
  assert.deepEqual(failures, [{ code: "publish.disconnected", reason, cause }]);
});

Deno.test("Lane does not report an error of jetrow's own as a lost connection", async () => {
  const cause = new RangeError("the window has no room");
  const fail = (): never => {
    throw cause;
  };
  const submitting = scene({ submit: fail });
  submitting.lane.wake();
  const due = now();
  const expiring = scene({ nextDue: () => due, expire: fail });
  expiring.lane.arm();
  while (expiring.failures.length === 0) await turn();
  expiring.lane.cut();
  const expected = {
    code: "publish.internal",
    reason: "an internal error: RangeError: the window has no room",
    cause,
  };
  assert.deepEqual(submitting.failures, [expected]);
  assert.deepEqual(expiring.failures[0], expected);
});

Deno.test("Lane expires nothing after it was cut off", async () => {
  const { lane, log } = scene({ nextDue: now });
  lane.arm();
  lane.cut();
  await turn();
  await turn();
  assert.deepEqual([lane.stopped, log], [true, []]);
});
