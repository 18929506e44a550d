import assert from "node:assert/strict";
import type { Failure } from "../../../src/publish/call.ts";
import { WireError } from "../../../src/publish/connection/wire.ts";
import { now } from "../../../src/publish/lanes/deadlines.ts";
import { Pump, type PumpWork } from "../../../src/publish/lanes/pump.ts";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A pump and its log: `submit`, `expire`, `moved`, `drained`, `failed`. */
function scene(work: Partial<PumpWork> = {}): { pump: Pump; log: string[]; failures: Failure[] } {
  const log: string[] = [];
  const failures: Failure[] = [];
  const host = {
    acknowledged: () => {},
    failed: (failure: Failure) => void (log.push("failed"), failures.push(failure)),
    drained: () => void log.push("drained"),
    moved: () => void log.push("moved"),
  };
  const pump = new Pump(host, {
    outstanding: () => false,
    nextDue: () => Infinity,
    expire: () => void log.push("expire"),
    submit: () => void log.push("submit"),
    ...work,
  });
  return { pump, log, failures };
}

Deno.test("Pump submits once, however often it is woken, and again when it is woken later", async () => {
  const { pump, log } = scene();
  pump.wake();
  pump.proceed();
  pump.wake();
  assert.deepEqual(log, [], "not before the read is over");
  await turn();
  assert.deepEqual(log, ["submit", "moved"]);
  pump.wake();
  await turn();
  assert.deepEqual(log, ["submit", "moved", "submit", "moved"]);
});

Deno.test("Pump that was woken and then stopped submits nothing, and reports when nothing is outstanding", async () => {
  let rows = 1;
  const { pump, log } = scene({ outstanding: () => rows > 0 });
  pump.wake();
  pump.stop();
  await turn();
  assert.deepEqual([pump.stopped, log], [true, []]);
  rows = 0;
  pump.proceed();
  assert.deepEqual(log, [], "not in the middle of a read");
  await turn();
  assert.deepEqual(log, ["drained"]);
});

Deno.test("Pump submits after it expires rows; once stopped it only reports the end", async () => {
  let due = now();
  const { pump, log } = scene({
    nextDue: () => due,
    expire: () => {
      due = Infinity;
      log.push("expire");
    },
  });
  pump.arm();
  while (log.length < 3) await turn();
  assert.deepEqual(log, ["expire", "submit", "moved"]);
  due = now();
  pump.stop();
  while (log.at(-1) !== "drained" || due !== Infinity) await turn();
  await turn();
  assert.deepEqual(log.slice(3), ["drained", "expire", "drained"]);
});

Deno.test("Pump reports a lost connection when the wire throws", async () => {
  const cause = new Error("the socket is gone");
  const { pump, log, failures } = scene({
    submit: () => {
      throw new WireError(cause);
    },
  });
  pump.wake();
  await turn();
  assert.deepEqual(log, ["failed", "moved"]);
  const reason = "the connection is lost: the socket is gone";
  assert.deepEqual(failures, [{ code: "publish.disconnected", reason, cause }]);
});

Deno.test("Pump does not report an error of jetrow's own as a lost connection", async () => {
  const cause = new RangeError("the window has no room");
  const fail = (): never => {
    throw cause;
  };
  const submitting = scene({ submit: fail });
  submitting.pump.wake();
  const due = now();
  const expiring = scene({ nextDue: () => due, expire: fail });
  expiring.pump.arm();
  while (expiring.failures.length === 0) await turn();
  expiring.pump.cut();
  const expected = {
    code: "publish.internal",
    reason: "an internal error: RangeError: the window has no room",
    cause,
  };
  assert.deepEqual(submitting.failures, [expected]);
  assert.deepEqual(expiring.failures[0], expected);
});

Deno.test("Pump expires nothing after it was cut off", async () => {
  const { pump, log } = scene({ nextDue: now });
  pump.arm();
  pump.cut();
  await turn();
  await turn();
  assert.deepEqual([pump.stopped, log], [true, []]);
});
