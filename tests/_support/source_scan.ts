/** Reads TypeScript source without a compiler: its imports, and its code without comments and strings. */

/** One import, re-export or dynamic import. */
export interface SourceImport {
  readonly specifier: string;
  /** Whether it is removed by compilation. */
  readonly typeOnly: boolean;
}

/** A comment, string, template or regular expression; a slash where an operand may stand is not a division. */
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

/** The imports of a source. `import type`, and lists that contain only types, count as types. */
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
 * A source without comments, strings and regular expressions. Templates with expressions stay, since the expressions are code.
 */
export function codeOf(source: string): string {
  return source.replace(PIECES, (piece) => piece.startsWith("`") && piece.includes("${") ? piece : '""');
}
