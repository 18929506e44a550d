/**
 * Checks that a string to be copied into the output is one JSON value (RFC 8259) or a JSON number.
 *
 * @module
 */

import { sequenceSize } from "../../util/utf8.ts";

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The closing byte of each open container. Grows: only the length of the input bounds the nesting. */
let closers = new Uint8Array(256);

function push(depth: number, closer: number): number {
  if (depth === closers.length) {
    const grown = new Uint8Array(depth * 2);
    grown.set(closers);
    closers = grown;
  }
  closers[depth] = closer;
  return depth + 1;
}

/** The position at which the last check failed. */
let failedAt = 0;

function fail(at: number): -1 {
  failedAt = at;
  return -1;
}

/** Returns the position at which bytes stop being one JSON value, or -1 if they are one. */
export function jsonFaultAt(source: Uint8Array, start: number, end: number): number {
  return isJson(source, start, end) ? -1 : failedAt;
}

/** Returns whether bytes are exactly one JSON value in valid UTF-8. Allows white space around it, no byte order mark. */
export function isJson(source: Uint8Array, start: number, end: number): boolean {
  return endOfJson(source, start, end) >= 0;
}

function endOfJson(source: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let at = space(source, start, end);
  for (;;) {
    const byte = at < end ? source[at] : -1;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      const closer = byte + 2;
      at = space(source, at + 1, end);
      if (at >= end) return fail(at);
      if (source[at] !== closer) {
        depth = push(depth, closer);
        if (closer === CLOSE_OBJECT) at = member(source, at, end);
        if (at < 0) return -1;
        continue;
      }
      at++;
    } else {
      at = scalar(source, at, end);
      if (at < 0) return -1;
    }
    at = space(source, at, end);
    while (depth > 0 && at < end && source[at] === closers[depth - 1]) {
      depth--;
      at = space(source, at + 1, end);
    }
    if (depth === 0) return at === end ? at : fail(at);
    if (at >= end || source[at] !== COMMA) return fail(at);
    at = space(source, at + 1, end);
    if (closers[depth - 1] === CLOSE_OBJECT) at = member(source, at, end);
    if (at < 0) return -1;
  }
}

function space(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = source[at]!;
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
    at++;
  }
  return at;
}

/** Returns the position after a member's name, colon and white space, or -1. */
function member(source: Uint8Array, start: number, end: number): number {
  if (start >= end || source[start] !== QUOTE) return fail(start);
  const name = string(source, start + 1, end);
  if (name < 0) return -1;
  const at = space(source, name, end);
  return at < end && source[at] === COLON ? space(source, at + 1, end) : fail(at);
}

function scalar(source: Uint8Array, at: number, end: number): number {
  if (at >= end) return fail(at);
  switch (source[at]) {
    case QUOTE:
      return string(source, at + 1, end);
    case 116:
      return word(source, at, end, "true");
    case 102:
      return word(source, at, end, "false");
    case 110:
      return word(source, at, end, "null");
    default:
      return number(source, at, end);
  }
}

function word(source: Uint8Array, at: number, end: number, text: string): number {
  if (at + text.length > end) return fail(at);
  for (let n = 0; n < text.length; n++) if (source[at + n] !== text.charCodeAt(n)) return fail(at);
  return at + text.length;
}

/** Returns the position after a string whose opening quote is before `start`, or -1. */
function string(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = source[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) return fail(at);
    if (byte === BACKSLASH) {
      at = escape(source, at + 1, end);
      if (at < 0) return -1;
    } else if (byte < 0x80) {
      at++;
    } else {
      const size = sequenceSize(source, at, end);
      if (size < 0) return fail(at);
      at += size;
    }
  }
  return fail(at);
}

function escape(source: Uint8Array, at: number, end: number): number {
  if (at >= end) return fail(at - 1);
  switch (source[at]) {
    case 34:
    case 47:
    case 92:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return at + 1;
    case 117:
      for (let n = 1; n <= 4; n++) if (at + n >= end || !isHex(source[at + n]!)) return fail(at - 1);
      return at + 5;
    default:
      return fail(at - 1);
  }
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

/** Returns the position after a number, or -1. */
function number(source: Uint8Array, start: number, end: number): number {
  let at = start;
  if (at < end && source[at] === 45) at++;
  if (at < end && source[at] === 48) at++;
  else at = digits(source, at, end);
  if (at >= 0 && at < end && source[at] === 46) at = digits(source, at + 1, end);
  if (at >= 0 && at < end && (source[at]! | 32) === 101) {
    at++;
    if (at < end && (source[at] === 43 || source[at] === 45)) at++;
    at = digits(source, at, end);
  }
  return at;
}

function digits(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(source[at]!)) at++;
  return at > start ? at : fail(start);
}

/** Returns whether bytes are exactly one JSON number, with nothing around it. */
export function isJsonNumber(source: Uint8Array, start: number, end: number): boolean {
  return number(source, start, end) === end && end > start;
}
