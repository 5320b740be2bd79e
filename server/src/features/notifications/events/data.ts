// The data of a stored event, as in its webhook.
import { customerOf } from '../../../runtime/operation/event-data.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { openData, withBalances } from '../webhooks/index.ts';
import type { EventRow } from './store.ts';

type Balances = Parameters<typeof withBalances>[0];

/** The data of an event, or null if it is erased. Throws if it is unreadable. */
export function readData(vault: Vault, row: EventRow): Record<string, unknown> | null {
  if (row.type === testEvent.type) return {};
  const text = openData(vault, row);
  if (text === undefined) return null;
  const data = JSON.parse(text) as Record<string, unknown>;
  if (row.balance === null) return data;
  // Only events of internal accounts have a balance.
  return { ...withBalances(data as unknown as Balances, row.balance, row.held ?? 0n) };
}

/**
 * Whether an event is about a customer. An erased event is about the customer of its data key.
 */
export const isAbout = (customerId: string, row: EventRow, data: unknown): boolean =>
  (customerOf(row.subject, data) ?? row.sealed_for) === customerId;
