/**
 * Finds the known word that a word is a misspelling of.
 *
 * @module
 */

/** The maximum number of characters compared, which limits the work on hostile documents. */
const LONGEST = 64;

/** Returns the known word with the fewest edits, ignoring case, `_` and `-`; the first of several. */
function nearestWord(word: string, known: Iterable<string>): string {
  const plain = lettersOf(word.slice(0, LONGEST));
  let nearest = "";
  let fewest = Infinity;
  for (const candidate of known) {
    const edits = editDistance(plain, lettersOf(candidate));
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

/**
 * Returns the known word that another one is a misspelling of: at most a quarter of its letters differ. Returns
 * undefined for a known word and for a word that is not similar to any.
 */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  if (known.includes(word)) return undefined;
  const nearest = nearestWord(word, known);
  const edits = editDistance(lettersOf(word.slice(0, LONGEST)), lettersOf(nearest));
  return edits <= nearest.length / 4 ? nearest : undefined;
}

/**
 * Returns the known word that another one probably stands for: at most two edits away, or as {@linkcode misspelt} counts,
 * or longer or shorter at its end. Returns undefined if none is that near.
 */
export function probableWord(word: string, known: readonly string[]): string | undefined {
  const nearest = nearestWord(word, known);
  const letters = lettersOf(word.slice(0, LONGEST));
  const edits = editDistance(letters, lettersOf(nearest));
  if (edits <= Math.max(2, nearest.length / 4) && edits <= nearest.length / 2) return nearest;
  if (letters === "") return undefined;
  return known.find((one) => letters.startsWith(lettersOf(one)) || lettersOf(one).startsWith(letters));
}

function lettersOf(word: string): string {
  return word.toLowerCase().replace(/[_-]/g, "");
}

/** The Levenshtein distance, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
