// Finds the intended name for a mistyped name.

/** Number of letters to insert, delete, replace or exchange with their neighbor. */
export function distance(one: string, other: string): number {
  let previousRow: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1;
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + cost,
      );
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isSwapped)
        best = Math.min(best, (previousRow[column - 2] ?? 0) + 1);
      current.push(best);
    }
    [previousRow, previous] = [previous, current];
  }
  return previous[other.length] ?? 0;
}

/** Undefined if no name is similar. */
export function closest(text: string, names: readonly string[]): string | undefined {
  const lower = text.toLowerCase();
  const best = names
    .map((name) => ({ name, away: distance(lower, name.toLowerCase()) }))
    .sort((one, other) => one.away - other.away)[0];
  if (best && best.away <= Math.max(1, Math.floor(text.length / 3))) return best.name;
  return names.find((name) => lower.length > 2 && name.toLowerCase().startsWith(lower));
}
