// Parses a URL. `URL.canParse` is not used: once Node 20 has compiled it, it rejects text with a
// non-ASCII letter, so a server would reject after an hour what it accepted at its start.

/** The URL, or undefined for a text that is none. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
