// Reading an address. `URL.canParse` is not asked: once Node 20 has compiled it, it takes text with a letter
// beyond ASCII for none, so a server would refuse after an hour what it took at its start.

/** The address, or undefined for a text that is none. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
