// Checks depth, number of values and length of lists of a JSON text before it is parsed. Serialization
// fails for a deep value, and validation needs time for each value. One pass over the characters costs less
// than parsing.

const QUOTE = 34;
const COMMA = 44;
const OPENING_BRACKET = 91;
const BACKSLASH = 92;

/** The codes of [ and {, and of ] and }, differ in one bit. */
const isOpening = (code: number) => (code | 32) === 123;
const isClosing = (code: number) => (code | 32) === 125;

interface JsonLimits {
  /** Levels of objects and lists. */
  depth: number;
  /** Total number of values. An empty object or list counts as two. */
  values: number;
  /** Items of one list. */
  items: number;
}

/** The exceeded limit, or undefined if there is none. */
export function excessOf(text: string, max: JsonLimits): keyof JsonLimits | undefined {
  /** Number of items of each open list, from the outermost. Objects have none. */
  const itemCounts: number[] = [];
  let depth = 0;
  let valueCount = 1;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) {
      if (code === BACKSLASH) index++;
    } else if (code === COMMA) {
      valueCount++;
      const count = (itemCounts[depth] ?? Number.NEGATIVE_INFINITY) + 1;
      itemCounts[depth] = count;
      if (count > max.items) return 'items';
    } else if (isOpening(code)) {
      valueCount++;
      if (++depth > max.depth) return 'depth';
      itemCounts[depth] = code === OPENING_BRACKET ? 1 : Number.NEGATIVE_INFINITY;
    } else if (isClosing(code)) depth--;
    if (valueCount > max.values) return 'values';
  }
  return undefined;
}
