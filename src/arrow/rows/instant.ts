/**
 * Reads instants: from `Date` objects and from strings of ISO 8601.
 *
 * @module
 */

const MS_PER_DAY = 86_400_000;

/** Year, month and day; then, if there is a time: hour, minute, second, fraction and zone. Extended or basic zone. */
const ISO =
  /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?))?$/;

/** A point in time: whole milliseconds since 1970, and the nanoseconds after them. */
export interface Instant {
  readonly ms: number;
  /** 0 to 999,999. */
  readonly ns: number;
}

/**
 * Returns the milliseconds of a `Date`, also one of another realm; NaN if the date is invalid, undefined if the value is
 * not a `Date`. Calls no method of the value.
 */
export function dateMs(value: unknown): number | undefined {
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return undefined;
  }
}

/**
 * Reads a date and time with a zone. Returns undefined if the string is not one, or if it has a digit other than 0 below
 * nanoseconds.
 */
export function parseInstant(text: string): Instant | undefined {
  const parts = ISO.exec(text);
  if (parts?.[8] === undefined) return undefined;
  const day = dayOf(parts);
  const [hour, minute, second] = [Number(parts[4]), Number(parts[5]), Number(parts[6] ?? 0)];
  const offset = zoneMinutes(parts[8]);
  if (day === undefined || offset === undefined || minute > 59 || second > 59 || hour > 24) return undefined;
  const fraction = (parts[7] ?? "").padEnd(9, "0");
  if (/[^0]/.test(fraction.slice(9))) return undefined;
  const time = ((hour * 60 + minute) * 60 + second) * 1000 + Number(fraction.slice(0, 3));
  const ns = Number(fraction.slice(3, 9));
  if (hour === 24 && (time > MS_PER_DAY || ns > 0)) return undefined;
  return { ms: day * MS_PER_DAY + time - offset * 60_000, ns };
}

/** Reads a date without a time: days since 1970. Returns undefined if the string is not one. */
export function parseDay(text: string): number | undefined {
  const parts = ISO.exec(text);
  return parts === null || parts[8] !== undefined ? undefined : dayOf(parts);
}

/** Returns the day that an instant falls in, in UTC. */
export function utcDay(ms: number): number {
  return Math.floor(ms / MS_PER_DAY);
}

function dayOf(parts: RegExpExecArray): number | undefined {
  const [year, month, day] = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])];
  if (parts[1] === "-000000") return undefined;
  // Not by Date.UTC, which moves the years 0 to 99 into the 20th century.
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() / MS_PER_DAY : undefined;
}

function zoneMinutes(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(":", ""))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
