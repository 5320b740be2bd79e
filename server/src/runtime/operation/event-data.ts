// Stored data of events. Several events of one change set often show the same resource in
// successive states. A later event that saves enough bytes refers to the first event and stores
// only different fields. A balance event can refer to a recent event of its unchanged account, and
// then stores no fields.
import { fnv1a } from '../../kernel/fnv.ts';
import { unpackJson } from './stored-json.ts';

/** The context of the sealed text of an event. */
export const eventContext = (id: string) => `events ${id} data`;

type Fields = Readonly<Record<string, unknown>>;

/** The customer of an event, from its data or its subject. */
export function customerOf(subject: string, data: unknown): string | undefined {
  const { customerId, cardholderId } = (data ?? {}) as Fields;
  const customer = customerId ?? cardholderId;
  if (typeof customer === 'string') return customer;
  return subject.startsWith('Customer:') ? subject : undefined;
}

/** 15 bits of the FNV-1a hash of a customer ID, which an index stores instead of the ID. */
export function customerKeyOf(customerId: string): number {
  const hash = fnv1a(customerId);
  return (hash >>> 17) ^ (hash & 0x7fff);
}

/**
 * Minimum saved bytes. If fewer bytes are saved, the data is stored completely, because the reference
 * needs as many bytes.
 */
const MIN_SAVED_BYTES = 200;

/**
 * Whether two values are the same JSON. The first comparison covers most fields, which are equal values or
 * the same object of a row.
 */
const isSame = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));

/**
 * The fields of `data` that differ from `base`, as JSON text. Undefined if `data` lacks a field of `base`,
 * or if fewer than `MIN_SAVED_BYTES` are saved. `baseText` is the JSON text of `base`.
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
 * The complete data of an event as JSON text, from its stored text and the stored text of the event to
 * which it refers. Empty if a text is erased.
 */
export function completeEventData(data: string, base: string | null): string {
  if (base === null) return unpackJson(data);
  if (data === '' || base === '') return '';
  if (data === '{}') return unpackJson(base);
  return JSON.stringify({ ...JSON.parse(unpackJson(base)), ...JSON.parse(unpackJson(data)) });
}
