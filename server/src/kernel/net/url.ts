// Parses a URL. `URL.canParse` is not used, because Node 20 compiles it after many calls. The compiled
// function rejects text with a non-ASCII letter, so its result would change while the server runs.

/** The URL. Undefined for any other text. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
