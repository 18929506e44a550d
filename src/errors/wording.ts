/**
 * Messages that keep the names of options apart, so that the command can render them with the names of its flags.
 *
 * @module
 */

/** The name of an option in a message, in camelCase. */
export class OptionName {
  readonly name: string;

  /** Makes the reference to an option. */
  constructor(name: string) {
    this.name = name;
  }
}

/** A message in parts: plain strings and names of options. */
export class Wording {
  readonly #parts: readonly (string | OptionName)[];

  /** Makes a message of its parts. */
  constructor(parts: readonly (string | OptionName)[]) {
    this.#parts = parts;
  }

  /** Renders the message. `nameOf` spells the name of an option; by default it stays in camelCase. */
  render(nameOf: (option: string) => string = (option) => option): string {
    return this.#parts.map((part) => typeof part === "string" ? part : nameOf(part.name)).join("");
  }

  /** Renders the message with the names in camelCase. */
  toString(): string {
    return this.render();
  }

  /** Adds the parts of another message to a list. */
  addTo(parts: (string | OptionName)[]): void {
    parts.push(...this.#parts);
  }
}

/** Refers to an option in {@linkcode words}. */
export function option(name: string): OptionName {
  return new OptionName(name);
}

/** A template tag: makes a message of strings, numbers, option names and other messages. */
export function words(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | OptionName | Wording)[]
): Wording {
  const parts: (string | OptionName)[] = [strings[0]!];
  values.forEach((value, index) => {
    if (value instanceof Wording) value.addTo(parts);
    else parts.push(typeof value === "number" ? String(value) : value);
    parts.push(strings[index + 1]!);
  });
  return new Wording(parts);
}

/** Joins messages. */
export function join(messages: readonly (string | Wording)[], separator: string): Wording {
  const parts: (string | OptionName)[] = [];
  messages.forEach((message, index) => {
    if (index > 0) parts.push(separator);
    if (typeof message === "string") parts.push(message);
    else message.addTo(parts);
  });
  return new Wording(parts);
}

/** Renders a message that may be a plain string. */
export function render(message: string | Wording, nameOf?: (option: string) => string): string {
  return typeof message === "string" ? message : message.render(nameOf);
}
