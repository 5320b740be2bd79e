// The query of a URL, parsed by the router and validated by the handler. The router parses before Fastify
// has a request, where an exception would end the process. The parser therefore accepts any text, and
// invalid queries are rejected after authentication.

import type { Contract } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';

type Query = Record<string, unknown>;

/** `a=1&b=2,3&b=4` → { a: '1', b: ['2,3', '4'] }. Never throws. `__proto__` is an ordinary name. */
export function readQuery(text: string): Query {
  const values = Object.create(null) as Query;
  for (const [name, value] of new URLSearchParams(text)) {
    const existingValue = values[name];
    if (existingValue === undefined) values[name] = value;
    else if (Array.isArray(existingValue)) existingValue.push(value);
    else values[name] = [existingValue, value];
  }
  return values;
}

const hasNul = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(hasNul) : String(value).includes('\0');

/** Throws INVALID_INPUT for a query with NUL, which PostgreSQL text cannot contain. */
export function rejectUnreadableQuery(query: Query): void {
  for (const [name, value] of Object.entries(query)) {
    if (hasNul(name) || hasNul(value)) {
      throw new Fault('INVALID_INPUT', 'The query contains a NUL character.');
    }
  }
}

/** Maximum items of one list in a query. */
const MAX_ITEMS = 1_000;

/** Splits lists of the contract at commas. Throws INVALID_INPUT above MAX_ITEMS. */
export function splitLists(contract: Contract, query: Query): Query {
  const properties = (contract.query?.properties ?? {}) as Record<string, { type?: unknown }>;
  const values = { ...query };
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.type !== 'array' || values[name] === undefined) continue;
    const items = [values[name]].flat().flatMap((each) => String(each).split(','));
    if (items.length > MAX_ITEMS) {
      throw new Fault('INVALID_INPUT', `${name} has more than ${MAX_ITEMS} values.`);
    }
    values[name] = items;
  }
  return values;
}
