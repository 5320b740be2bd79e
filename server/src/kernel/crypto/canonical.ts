// JSON with one canonical form per value (RFC 8785). Members are sorted by the UTF-16 code
// units of their names. Whitespace is omitted. Two bodies are the same request if their canonical forms
// are equal.

/** The canonical text of a JSON value. Undefined members are omitted. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`);
  return `{${members.join(',')}}`;
}
