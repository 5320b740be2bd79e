// Depth and number of values of a JSON text, found before it is parsed. Parsing handles any depth, but
// serialising the value again does not, and validating takes time for every value. One pass over the
// characters, which costs less than the parsing that follows.

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

/** [ or {, and ] or }: they differ in one bit. */
const isOpening = (code: number) => (code | 32) === 123;
const isClosing = (code: number) => (code | 32) === 125;

/** The limit that a JSON text exceeds, if any. An empty object or list counts as two values. */
export function excessOf(
  text: string,
  most: { depth: number; values: number },
): 'depth' | 'values' | undefined {
  let depth = 0;
  let values = 1;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) {
      if (code === BACKSLASH) at++;
    } else if (code === COMMA) values++;
    else if (isOpening(code)) {
      values++;
      if (++depth > most.depth) return 'depth';
    } else if (isClosing(code)) depth--;
    if (values > most.values) return 'values';
  }
  return undefined;
}
