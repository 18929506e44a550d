/**
 * The rule for sending a row again that may be stored already.
 *
 * The row must carry an id, and at the moment of the submission less time must have passed since the row was first sent
 * than the stream's duplicate window less `publishTimeout`. The stream then recognizes the second copy: it arrives
 * within `publishTimeout`, or counts as unanswered.
 *
 * @module
 */

/** A point in time on both clocks, in milliseconds. The steady clock stands still while the machine is suspended. */
export interface Moment {
  /** `Date.now()`. */
  readonly wall: number;
  /** `performance.now()`. */
  readonly steady: number;
}

/** Returns the current time on both clocks. */
export function currentMoment(): Moment {
  return { wall: Date.now(), steady: performance.now() };
}

/** Returns the moment of a time on the wall clock, which is the only clock that processes share. */
export function momentOf(wall: number, now: Moment = currentMoment()): Moment {
  return { wall, steady: now.steady - Math.max(0, now.wall - wall) };
}

/** Returns the time between two moments: the larger of both clocks' differences. */
export function elapsedBetween(since: Moment, now: Moment): number {
  return Math.max(now.wall - since.wall, now.steady - since.steady);
}

/** Returns the time after which the stream may no longer recognize another copy of a row. */
export function resendLimit(duplicateWindow: number, publishTimeout: number): number {
  return duplicateWindow - publishTimeout;
}

/** Which rows of a call earlier submissions may have stored, and when each was first sent. */
export interface EarlierSends {
  /** The duplicate window of the stream at that time: the shorter one counts. */
  readonly duplicateWindow: number;
  /** Returns when a row was first sent, if it may be stored, by its index. */
  firstSent(index: number): Moment | undefined;
}

/** Returns the earlier sends of the rows from `from` on. */
export function shiftedSends(sends: EarlierSends | undefined, from: number): EarlierSends | undefined {
  if (sends === undefined || from === 0) return sends;
  return { duplicateWindow: sends.duplicateWindow, firstSent: (index) => sends.firstSent(from + index) };
}

/** A row that may be stored, at the moment in which it would be sent again. */
export interface Resend {
  /** The row's number, for the reason. */
  readonly row: number;
  readonly hasId: boolean;
  readonly firstSent: Moment;
  readonly now: Moment;
  /** The stream's duplicate window in milliseconds. */
  readonly duplicateWindow: number;
  readonly publishTimeout: number;
}

/** Returns why a row must not be sent again; undefined if it may. */
export function resendFault({ row, hasId, firstSent, now, ...limits }: Resend): string | undefined {
  if (!hasId) return `row ${row} may be stored, and it has no id by which the stream would recognize it`;
  const elapsed = elapsedBetween(firstSent, now);
  if (elapsed < resendLimit(limits.duplicateWindow, limits.publishTimeout)) return undefined;
  return `row ${row} may be stored, and ${Math.round(elapsed)} ms after it was first sent the duplicate window of ` +
    `${limits.duplicateWindow} ms does not surely recognize it`;
}
