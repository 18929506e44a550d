/** Reads TypeScript source without a compiler: what it imports, and its code without comments and texts. */

/** One import, re-export or dynamic import. */
export interface SourceImport {
  readonly specifier: string;
  /** Whether it is gone after compilation. */
  readonly typeOnly: boolean;
}

/** A comment, a text, a template or a regular expression; what stands where an operand may is no division. */
const PIECES = new RegExp(
  [
    String.raw`\/\*[^]*?\*\/|\/\/[^\n]*`,
    String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|` + "`(?:\\\\[^]|[^`\\\\])*`",
    String.raw`(?<=(?:[(=,:!&|?{};>[]|\breturn)\s*)\/(?![*\/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\/\\\n[])+\/[a-z]*`,
  ].join("|"),
  "g",
);

const FROM =
  /^[ \t]*(?:import|export)\s+(type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+(?:\s*,\s*\{[^}]*\})?)\s+from\s+"([^"]+)"/gm;
const BARE = /^[ \t]*import\s+"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/g;

/** What a source imports. Imports in `import type`, and lists of nothing but types, count as types. */
export function importsOf(source: string): readonly SourceImport[] {
  const code = source.replace(PIECES, (piece) => /^\/[*/]/.test(piece) ? " " : piece);
  const statements = [...code.matchAll(FROM)].map(([, type, names = "", specifier]) => ({
    specifier: specifier!,
    typeOnly: type !== undefined || /^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*(?:,|(?=\})))+\s*\}$/.test(names),
  }));
  const others = [...code.matchAll(BARE), ...code.matchAll(DYNAMIC)];
  return [...statements, ...others.map(([, specifier]) => ({ specifier: specifier!, typeOnly: false }))];
}

/**
 * A source without comments, texts and regular expressions. Templates with expressions stay: the expressions are code.
 */
export function codeOf(source: string): string {
  return source.replace(PIECES, (piece) => piece.startsWith("`") && piece.includes("${") ? piece : '""');
}
