/**
 * The known word that a misspelt one stands for.
 *
 * @module
 */

/** Longer keys are nobody's misspelling; it bounds the work on hostile documents. */
const LONGEST = 64;

/** The word with the fewest edits, upper case, `_` and `-` set aside; of several the first. */
export function nearestWord(word: string, known: Iterable<string>): string {
  const plain = plainText(word.slice(0, LONGEST));
  let nearest = "";
  let fewest = Infinity;
  for (const candidate of known) {
    const edits = editDistance(plain, plainText(candidate));
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

/**
 * The known word that another one is a misspelling of: as many edits away as a quarter of its letters at most, and not
 * the same. Undefined for words of their own.
 */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  if (known.includes(word)) return undefined;
  const nearest = nearestWord(word, known);
  const edits = editDistance(plainText(word.slice(0, LONGEST)), plainText(nearest));
  return edits <= nearest.length / 4 ? nearest : undefined;
}

function plainText(word: string): string {
  return word.toLowerCase().replace(/[_-]/g, "");
}

/** Levenshtein's distance: insertions, deletions and replacements, one row of the table at a time. */
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
