// JSON with one spelling for one value (RFC 8785): members sorted by the UTF-16 units of their names, no
// spaces, numbers and texts as JavaScript writes them, which is what the RFC asks for. Two bodies are the
// same request when their canonical texts are equal, whatever a client's library put between the tokens.

/** The canonical text of a JSON value; members that are undefined are left out. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`);
  return `{${members.join(',')}}`;
}
