/**
 * How values are shown in error messages: on one line, cut to a length that a terminal bears.
 *
 * @module
 */

const LONGEST = 80;

/** A class's name as a message may have it: one word, too long for a minifier's and too short for a credential. */
const CLASS_NAME = /^[A-Z][A-Za-z0-9]{2,31}$/;

/**
 * A value as an error message shows it: text quoted and cut to 80 characters, objects by their kind. None of its
 * getters and methods is called, and nothing that it holds is shown.
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

/** JSON leaves the upper control characters and two line separators as they are; terminals obey some of them. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** An array, an object, or an instance by its class's name. A proxy may throw whatever it is asked. */
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

/** The name that the engine gave an instance's class; a static `name` of the class's own may hold anything. */
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
