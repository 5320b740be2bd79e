// Suggests the known name that was probably intended. A name is not suggested if its edit distance
// exceeds a third of the longer text.

/** Edit distance of two strings: added, removed, replaced and transposed letters. */
function distance(text: string, otherText: string): number {
  const rows = Array.from({ length: text.length + 1 }, (_, i) =>
    Array.from({ length: otherText.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const distanceAt = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= text.length; i++) {
    for (let j = 1; j <= otherText.length; j++) {
      const substitutionCost = text[i - 1] === otherText[j - 1] ? 0 : 1;
      const isTransposed = text[i - 1] === otherText[j - 2] && text[i - 2] === otherText[j - 1];
      (rows[i] as number[])[j] = Math.min(
        distanceAt(i - 1, j) + 1,
        distanceAt(i, j - 1) + 1,
        distanceAt(i - 1, j - 1) + substitutionCost,
        isTransposed ? distanceAt(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return distanceAt(text.length, otherText.length);
}

/** Maximum number of compared letters. Longer input is truncated. */
const MAX_LENGTH = 40;

/** Maximum edits, as a share of the longer text's length. */
const MAX_EDIT_RATIO = 1 / 3;

/**
 * The first name with the smallest distance. Undefined if the distance is too large.
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const lowerCaseText = text.toLowerCase().slice(0, MAX_LENGTH);
  const matches = names
    .map((name) => ({ name, edits: distance(lowerCaseText, name) }))
    .filter(
      ({ name, edits }) => edits <= Math.max(lowerCaseText.length, name.length) * MAX_EDIT_RATIO,
    );
  if (matches.length === 0) return undefined;
  return matches.reduce((nearestMatch, each) =>
    each.edits < nearestMatch.edits ? each : nearestMatch,
  ).name;
}
