// Parses a URL. `URL.canParse` is not used, because it rejects text with a non-ASCII letter once Node 20
// has compiled it. Its result would change while the server runs.

/** The URL. Undefined for any other text. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
