/**
 * The JSON of single values, by strings and BigInts: slow, short, and without code of the encoder.
 */

const DAYS_OF_400_YEARS = 146_097n;

/** A float as the shortest decimal of its own width; a half or single is passed as the double of the same value. */
export function floatText(value: number, precision: string): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  if (Object.is(value, -0)) return "-0";
  if (value === 0 || precision === "DOUBLE") return String(value);
  const round = precision === "SINGLE" ? Math.fround : Math.f16round;
  const exact = round(value);
  const [, sign, lead, rest, exponent] = /^(-?)(\d)\.(\d+)e(.*)$/.exec(exact.toExponential(100))!;
  for (let digits = 1; digits < 10; digits++) {
    // The closest decimal first; at powers of two the interval is asymmetric, and only a neighbour may be inside.
    const closest = roundHalfEven(lead! + rest!, digits);
    for (const mantissa of [closest, closest - 1n, closest + 1n]) {
      const candidate = Number(`${sign}${mantissa}e${Number(exponent) - digits + 1}`);
      if (round(candidate) === exact) return String(candidate);
    }
  }
  throw new RangeError(`No decimal of nine digits gives ${exact}`);
}

function roundHalfEven(all: string, digits: number): bigint {
  const kept = BigInt(all.slice(0, digits));
  const rest = all.slice(digits);
  const half = "5".padEnd(rest.length, "0");
  return rest > half || (rest === half && kept % 2n === 1n) ? kept + 1n : kept;
}

/** A decimal with exactly `scale` fraction digits; a negative scale appends zeros. */
export function decimalText(value: bigint, scale: number): string {
  if (scale <= 0) return String(value * 10n ** BigInt(-scale));
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Days since 1970 as a date; with a width, the extremes are infinite. */
export function daysText(days: bigint, width?: number): string {
  if (width !== undefined && days === 2n ** BigInt(width - 1) - 1n) return "infinity";
  if (width !== undefined && days === -(2n ** BigInt(width - 1))) return "-infinity";
  const { date, era } = dateParts(days);
  return date + era;
}

/** Units since 1970 as date and time; the extremes of int64 are infinite. */
export function timestampText(value: bigint, digits: number, zone: boolean): string {
  if (value === 2n ** 63n - 1n) return "infinity";
  if (value === -(2n ** 63n)) return "-infinity";
  const perDay = 86_400n * 10n ** BigInt(digits);
  const ofDay = ((value % perDay) + perDay) % perDay;
  const { date, era } = dateParts((value - ofDay) / perDay);
  return `${date}T${timeText(ofDay, digits)}${zone ? "Z" : ""}${era}`;
}

/** Units since midnight as a time of day. */
export function timeText(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const seconds = value / unit;
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, "0"));
  return parts.join(":") + fraction(value % unit, digits);
}

/** A duration in ISO 8601: seconds only, with the sign in front. */
export function durationText(value: bigint, digits: number): string {
  const size = value < 0n ? -value : value;
  return `${value < 0n ? "-" : ""}PT${secondsText(size, digits)}S`;
}

/** An interval in ISO 8601: zero parts omitted, each part with its own sign. */
export function intervalText(months: bigint, days: bigint, ofDay: bigint, digits: number): string {
  const time = ofDay === 0n ? "" : `T${secondsText(ofDay, digits)}S`;
  const date = (months === 0n ? "" : `${months}M`) + (days === 0n ? "" : `${days}D`);
  return date + time === "" ? "PT0S" : `P${date}${time}`;
}

function secondsText(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const size = value < 0n ? -value : value;
  return `${value < 0n ? "-" : ""}${size / unit}${fraction(size % unit, digits)}`;
}

function fraction(value: bigint, digits: number): string {
  return value === 0n ? "" : "." + String(value).padStart(digits, "0").replace(/0+$/, "");
}

/** The date by JavaScript's Date, shifted into its range by whole cycles of 400 years. */
function dateParts(days: bigint): { readonly date: string; readonly era: string } {
  const within = ((days % DAYS_OF_400_YEARS) + DAYS_OF_400_YEARS) % DAYS_OF_400_YEARS;
  const date = new Date(Number(within) * 86_400_000);
  const year = BigInt(date.getUTCFullYear()) + 400n * ((days - within) / DAYS_OF_400_YEARS);
  const shown = year < 1n ? 1n - year : year;
  const monthDay = date.toISOString().slice(-20, -14);
  return { date: String(shown).padStart(4, "0") + monthDay, era: year < 1n ? " BC" : "" };
}
