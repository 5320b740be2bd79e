// How deep a JSON text goes, told before it is parsed. Parsing stands any depth, but writing the value
// again does not: a body of brackets alone would end as an error of ours. One pass over the characters,
// which costs less than the parsing that follows.

const QUOTE = 34;
const BACKSLASH = 92;
const OPENS = new Set([91, 123]); // [ {
const CLOSES = new Set([93, 125]); // ] }

/** Whether objects and lists are nested in more than `most` levels. */
export function isDeeperThan(most: number, text: string): boolean {
  if (text.length <= most) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) {
      if (code === BACKSLASH) at++;
    } else if (OPENS.has(code)) {
      if (++depth > most) return true;
    } else if (CLOSES.has(code)) depth--;
  }
  return false;
}
