import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../../src/arrow/fault.ts";
import {
  putDate32,
  putDate64,
  putDayTime,
  putDuration,
  putInterval,
  putMonths,
  putTime,
  putTimestamp,
} from "../../../src/json/write/temporal.ts";
import { written } from "../../_support/scratch_output.ts";
import { readVectors } from "../../_support/testdata.ts";

type Unit = 0 | 1 | 2 | 3;
const PER_SECOND = [1n, 1000n, 1_000_000n, 1_000_000_000n] as const;
const TOP = (1n << 63n) - 1n;

function words(n: bigint): [low: number, high: number] {
  return [Number(BigInt.asIntN(32, n)), Number(BigInt.asIntN(32, n >> 32n))];
}

function floorDiv(n: bigint, by: bigint): [quotient: bigint, rest: bigint] {
  const rest = ((n % by) + by) % by;
  return [(n - rest) / by, rest];
}

function isLeap(year: bigint): boolean {
  return year % 4n === 0n && (year % 100n !== 0n || year % 400n === 0n);
}

/** The date of a day, by counting whole years and months: slow, and by another algorithm than the one tested. */
function slowDate(day: bigint): { date: string; bc: boolean } {
  const [cycles, rest] = floorDiv(day + 719162n, 146097n);
  let year = 1n;
  let left = rest;
  for (; left >= (isLeap(year) ? 366n : 365n); year++) left -= isLeap(year) ? 366n : 365n;
  const lengths = [31n, isLeap(year) ? 29n : 28n, 31n, 30n, 31n, 30n, 31n, 31n, 30n, 31n, 30n, 31n];
  let month = 0;
  for (; left >= lengths[month]!; month++) left -= lengths[month]!;
  const full = year + 400n * cycles;
  const shown = full > 0n ? full : 1n - full;
  const pad = (n: bigint | number, width: number): string => String(n).padStart(width, "0");
  return { date: `${pad(shown, 4)}-${pad(month + 1, 2)}-${pad(left + 1n, 2)}`, bc: full <= 0n };
}

function slowFraction(rest: bigint, unit: Unit): string {
  if (rest === 0n) return "";
  return `.${String(rest).padStart(3 * unit, "0").replace(/0+$/, "")}`;
}

function slowClock(rest: bigint, unit: Unit): string {
  const [seconds, fraction] = floorDiv(rest, PER_SECOND[unit]);
  const pad = (n: bigint): string => String(n).padStart(2, "0");
  const clock = [seconds / 3600n, seconds / 60n % 60n, seconds % 60n].map(pad).join(":");
  return clock + slowFraction(fraction, unit);
}

function slowTimestamp(n: bigint, unit: Unit, zoned: boolean): string {
  if (n === TOP) return '"infinity"';
  if (n === -TOP - 1n) return '"-infinity"';
  const [day, rest] = floorDiv(n, 86400n * PER_SECOND[unit]);
  const { date, bc } = slowDate(day);
  return `"${date}T${slowClock(rest, unit)}${zoned ? "Z" : ""}${bc ? " BC" : ""}"`;
}

const anyUnit = fc.constantFrom<Unit>(0, 1, 2, 3);
/** 64-bit numbers of every magnitude, and those around days, years and the ends of the range. */
const anyInt64 = fc.oneof(
  fc.bigInt({ min: -TOP - 1n, max: TOP }),
  fc.tuple(fc.bigInt({ min: -TOP - 1n, max: TOP }), fc.nat(63)).map(([n, shift]) => n >> BigInt(shift)),
  fc.tuple(fc.integer({ min: -800_000, max: 3_000_000 }), fc.constantFrom(0n, -1n, 1n), anyUnit)
    .map(([day, off, unit]) => BigInt.asIntN(64, BigInt(day) * 86400n * PER_SECOND[unit] + off)),
  fc.constantFrom(TOP, TOP - 1n, -TOP, -TOP - 1n, 0n, -1n, 1n, (1n << 53n) - 1n, 1n << 53n, (1n << 53n) + 1n),
);

Deno.test("putTimestamp() writes any 64-bit timestamp of any unit", () => {
  fc.assert(
    fc.property(anyInt64, anyUnit, fc.boolean(), (n, unit, zoned) => {
      assert.equal(written((p) => putTimestamp(p, ...words(n), unit, zoned)), slowTimestamp(n, unit, zoned));
    }),
    { numRuns: 10_000 },
  );
});

Deno.test("putTimestamp() writes the vectors' timestamps", () => {
  const { timestampMicros } = readVectors<{ timestampMicros: { micros: string; text: string }[] }>("values");
  for (const { micros, text } of timestampMicros) {
    assert.equal(written((p) => putTimestamp(p, ...words(BigInt(micros)), 2, false)), `"${text}"`);
  }
});

Deno.test("putDate32() writes every day around the year 1, and any other day, as counting does", () => {
  const check = (day: number): void => {
    const { date, bc } = slowDate(BigInt(day));
    assert.equal(written((p) => putDate32(p, day)), `"${date}${bc ? " BC" : ""}"`);
  };
  for (let day = -719162 - 400; day < -719162 + 400; day++) check(day);
  // Twice, in an order in which cached dates are replaced by others with the same cache index.
  for (const day of [0, 1024, 0, 2048, 1024, -1024, 0, 2932896, 2932897, -719162, -719163]) check(day);
  fc.assert(fc.property(fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 2 }), check), { numRuns: 5000 });
  fc.assert(fc.property(fc.integer({ min: -719162, max: 2932896 }), check), { numRuns: 5000 });
  assert.equal(written((p) => putDate32(p, 2 ** 31 - 1)), '"infinity"');
  assert.equal(written((p) => putDate32(p, -(2 ** 31))), '"-infinity"');
});

Deno.test("putDate64() writes the day that contains an instant, for the whole range", () => {
  fc.assert(
    fc.property(anyInt64, (n) => {
      const { date, bc } = slowDate(floorDiv(n, 86_400_000n)[0]);
      assert.equal(written((p) => putDate64(p, ...words(n))), `"${date}${bc ? " BC" : ""}"`);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("putTime() writes times up to 24 hours and refuses all others", () => {
  fc.assert(
    fc.property(anyUnit, fc.oneof(fc.bigInt({ min: -2n, max: 90_000n * 1_000_000_000n }), anyInt64), (unit, n) => {
      const put = (): string => written((p) => putTime(p, ...words(n), unit));
      const day = 86400n * PER_SECOND[unit];
      if (n >= 0n && n <= day) assert.equal(put(), `"${slowClock(n, unit)}"`);
      else assert.throws(put, (error) => error instanceof Fault && error.code === "encode.value");
    }),
    { numRuns: 5000 },
  );
  for (const unit of [0, 1, 2, 3] as const) {
    const day = 86400n * PER_SECOND[unit];
    assert.equal(written((p) => putTime(p, ...words(day), unit)), '"24:00:00"');
    assert.throws(() => written((p) => putTime(p, ...words(day + 1n), unit)), Fault);
    assert.throws(() => written((p) => putTime(p, ...words(-1n), unit)), Fault);
  }
});

function slowSeconds(n: bigint, unit: Unit): string {
  const size = n < 0n ? -n : n;
  const [seconds, fraction] = floorDiv(size, PER_SECOND[unit]);
  return `${n < 0n ? "-" : ""}${seconds}${slowFraction(fraction, unit)}S`;
}

Deno.test("putDuration() writes any 64-bit duration of any unit in seconds", () => {
  fc.assert(
    fc.property(anyInt64, anyUnit, (n, unit) => {
      const magnitude = slowSeconds(n < 0n ? -n : n, unit);
      assert.equal(written((p) => putDuration(p, ...words(n), unit)), `"${n < 0n ? "-" : ""}PT${magnitude}"`);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("putInterval() omits parts that are zero and gives each part its own sign", () => {
  const part = fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
  fc.assert(
    fc.property(part, part, fc.oneof(fc.constant(0n), anyInt64), (months, days, nanos) => {
      const parts = [months === 0 ? "" : `${months}M`, days === 0 ? "" : `${days}D`].join("");
      const time = nanos === 0n ? "" : `T${slowSeconds(nanos, 3)}`;
      const expected = parts + time === "" ? "PT0S" : `P${parts}${time}`;
      assert.equal(written((p) => putInterval(p, months, days, ...words(nanos), 3)), `"${expected}"`);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("putMonths() and putDayTime() write intervals of two and three parts", () => {
  assert.equal(written((p) => putMonths(p, 14)), '"P14M"');
  assert.equal(written((p) => putMonths(p, -(2 ** 31))), '"P-2147483648M"');
  assert.equal(written((p) => putMonths(p, 0)), '"PT0S"');
  assert.equal(written((p) => putDayTime(p, 3, 500)), '"P3DT0.5S"');
  assert.equal(written((p) => putDayTime(p, 0, -1)), '"PT-0.001S"');
  assert.equal(written((p) => putDayTime(p, -1, -(2 ** 31))), '"P-1DT-2147483.648S"');
});
