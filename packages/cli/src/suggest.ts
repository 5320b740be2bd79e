// Finds the intended name for a mistyped name.

/** Minimum number of insertions, deletions, replacements and swaps that change `a` into `b`. */
export function distance(a: string, b: string): number {
  let previousRow: number[] = [];
  let previousDistances = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const currentDistances = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let minDistance = Math.min(
        (previousDistances[column] ?? 0) + 1,
        (currentDistances[column - 1] ?? 0) + 1,
        (previousDistances[column - 1] ?? 0) + cost,
      );
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && isSwapped)
        minDistance = Math.min(minDistance, (previousRow[column - 2] ?? 0) + 1);
      currentDistances.push(minDistance);
    }
    [previousRow, previousDistances] = [previousDistances, currentDistances];
  }
  return previousDistances[b.length] ?? 0;
}

/** The most similar name, or else a name that begins with the text. Undefined without either. */
export function closest(text: string, names: readonly string[]): string | undefined {
  const lowerText = text.toLowerCase();
  const nearest = names
    .map((name) => ({ name, away: distance(lowerText, name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)[0];
  if (nearest && nearest.away <= Math.max(1, Math.floor(text.length / 3))) return nearest.name;
  return names.find((name) => lowerText.length > 2 && name.toLowerCase().startsWith(lowerText));
}
