/**
 * Where a text stops being JSON. The runtimes' own messages repeat what stands there, which may be a credential.
 *
 * @module
 */

/** A place in a text, both counted from 1. */
export interface TextPosition {
  /** The line. */
  readonly line: number;
  /** The column, in characters. */
  readonly column: number;
}

const WHITE_SPACE = /[ \t\n\r]*/y;
// deno-lint-ignore no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
// deno-lint-ignore no-control-regex
const STRING_BEGUN = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first place where a text is no JSON. */
export function jsonFault(text: string): TextPosition | undefined {
  const scan = new Scan(text);
  const whole = scan.value(0) && scan.atEnd();
  return whole ? undefined : positionOf(text, scan.at);
}

/** Deeper documents are none that this program reads. */
const DEEPEST = 256;

class Scan {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): boolean {
    this.#skip(WHITE_SPACE);
    if (depth > DEEPEST) return false;
    switch (this.#text[this.at]) {
      case "{":
        return this.#list("}", () => this.#string() && this.#word(":") && this.value(depth + 1));
      case "[":
        return this.#list("]", () => this.value(depth + 1));
      case '"':
        return this.#string();
      default:
        return this.#skip(SCALAR);
    }
  }

  atEnd(): boolean {
    this.#skip(WHITE_SPACE);
    return this.at === this.#text.length;
  }

  #list(end: string, item: () => boolean): boolean {
    this.at++;
    if (this.#word(end)) return true;
    do {
      if (!item()) return false;
    } while (this.#word(","));
    return this.#word(end);
  }

  #string(): boolean {
    this.#skip(WHITE_SPACE);
    if (this.#skip(STRING)) return true;
    this.#skip(STRING_BEGUN);
    return false;
  }

  #word(word: string): boolean {
    this.#skip(WHITE_SPACE);
    if (!this.#text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.at += found?.length ?? 0;
    return found !== undefined;
  }
}

function positionOf(text: string, at: number): TextPosition {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: [...before.slice(lineStart)].length + 1 };
}
