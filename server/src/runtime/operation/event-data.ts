// Stored data of events. Several events of one change set often show the same resource in successive
// states. Each later one stores only the fields that differ from the first, which it refers to. A
// balance event refers to an earlier one of its account, and stores no fields while the account is
// unchanged.
import { fnv1a } from '../../kernel/fnv.ts';
import { unpackJson } from './stored-json.ts';

/** The context that the sealed text of an event is bound to. */
export const eventContext = (id: string) => `events ${id} data`;

type Fields = Readonly<Record<string, unknown>>;

/** The customer that an event is about: named by its data, or its subject. */
export function customerOf(subject: string, data: unknown): string | undefined {
  const { customerId, cardholderId } = (data ?? {}) as Fields;
  const customer = customerId ?? cardholderId;
  if (typeof customer === 'string') return customer;
  return subject.startsWith('Customer:') ? subject : undefined;
}

/** 15 bits of the FNV-1a hash of a customer id, which an index stores instead of the id. */
export function customerKeyOf(customerId: string): number {
  const hash = fnv1a(customerId);
  return (hash >>> 17) ^ (hash & 0x7fff);
}

/** Shorter data is stored completely: the reference takes as many bytes. */
const MIN_SAVED_BYTES = 200;

/** Whether both are the same JSON. Most fields are equal values, or the same object of a row. */
const isSame = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));

/**
 * The fields of `data` that differ from `base`, as JSON text. Undefined if `data` lacks a field of
 * `base`, or if the text is hardly shorter than `baseText`, the JSON text of `base`.
 */
export function eventChanges(base: Fields, data: Fields, baseText: string): string | undefined {
  for (const name in base) {
    if (base[name] !== undefined && data[name] === undefined) return undefined;
  }
  const changes: Record<string, unknown> = {};
  for (const name in data) {
    if (!isSame(data[name], base[name])) changes[name] = data[name];
  }
  const text = JSON.stringify(changes);
  return baseText.length - text.length < MIN_SAVED_BYTES ? undefined : text;
}

/**
 * The complete data of an event as JSON text, from its own stored text and that of the event that it
 * refers to, if any. Empty if one of them is erased.
 */
export function completeEventData(data: string, base: string | null): string {
  if (base === null) return unpackJson(data);
  if (data === '' || base === '') return '';
  if (data === '{}') return unpackJson(base);
  return JSON.stringify({ ...JSON.parse(unpackJson(base)), ...JSON.parse(unpackJson(data)) });
}
