/**
 * Formats values for error messages: on one line, at most 80 characters of a string.
 *
 * @module
 */

const LONGEST = 80;

/** A class name that a message may show: one word, too long for a minifier and too short for a credential. */
const CLASS_NAME = /^[A-Z][A-Za-z0-9]{2,31}$/;

/**
 * Formats a value for an error message: a string is quoted and cut to 80 characters, an object is named by its class.
 * Calls no getter or method of the value and shows nothing that an object holds.
 */
export function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > LONGEST
        ? `${quoted(value.slice(0, LONGEST))}... (${value.length} characters)`
        : quoted(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "object":
      return value === null ? "null" : kindOf(value);
    default:
      return typeof value === "boolean" || value === undefined ? String(value) : `a ${typeof value}`;
  }
}

/** Also escapes characters that JSON does not and terminals act on: upper control characters and two line separators. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Names an object's kind. A proxy may throw at any access. */
function kindOf(value: object): string {
  try {
    if (Array.isArray(value)) return "an array";
    const name = classOf(value);
    if (name === undefined || name === "Object") return "an object";
    return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
  } catch {
    return "an object";
  }
}

/** Returns the class name that the engine gave to an instance: a static `name` of the class may hold anything. */
function classOf(value: object): string | undefined {
  const made = ownValue(Object.getPrototypeOf(value), "constructor")?.value;
  const name = typeof made === "function" ? ownValue(made, "name") : undefined;
  return name?.writable === false && typeof name.value === "string" && CLASS_NAME.test(name.value)
    ? name.value
    : undefined;
}

function ownValue(holder: object | null, key: string): PropertyDescriptor | undefined {
  return holder === null ? undefined : Object.getOwnPropertyDescriptor(holder, key);
}
