/**
 * The rule of a user's seed, the private half of an nkey.
 *
 * @module
 */

/** RFC 4648, without padding. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Two bytes of prefix, 32 of seed, two of checksum. */
const SEED_BYTES = 36;
const SEED_CHARACTERS = Math.ceil(SEED_BYTES * 8 / 5);

/**
 * The nkey format's prefix: five bits that make the first letter `S`, then a byte of which five bits make the second.
 */
const PREFIX_SEED = 18 << 3;
const PREFIX_USER = 20 << 3;

/** Why a text is no user seed, as the end of a sentence; undefined when it is one. The text is never part of it. */
export function seedFault(text: string): string | undefined {
  const bytes = text.length === SEED_CHARACTERS ? decodeBase32(text) : undefined;
  if (bytes === undefined || !hasUserPrefix(bytes)) {
    return `must be a user seed: ${SEED_CHARACTERS} letters and digits that begin with SU`;
  }
  const [low, high] = bytes.subarray(-2);
  return crc16(bytes.subarray(0, -2)) === low! + (high! << 8)
    ? undefined
    : "must be a user seed as it was issued: its checksum is wrong";
}

function hasUserPrefix(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first! & 0xf8) === PREFIX_SEED && ((first! & 0x07) << 5 | second! >> 3) === PREFIX_USER;
}

function decodeBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor(text.length * 5 / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return undefined;
    bits = (bits << 5 | value) & 0xfff;
    held += 5;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = bits >> held;
    }
  }
  return bytes;
}

/** CRC-16/XMODEM: polynomial 0x1021, from zero, nothing reflected. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
