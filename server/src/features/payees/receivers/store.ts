// Payee discoveries for later quotes: the receiver, its currencies, and the payer data that it
// requires. A row belongs to one platform, never changes, and is invalid after its expiry. A sweep
// deletes it.
import type { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** A currency that the receiver accepts, with the limits of one payment in minor units. */
interface OfferedCurrency {
  code: string;
  min: number;
  max: number;
}

export const payeeDiscoveries = table('payee_discoveries', {
  id: col.text,
  platform_id: col.text,
  kind: col.enum<'UMA' | 'ACCOUNT'>(),
  /** UMA address in lower case, or ID of an external account. */
  receiver: col.text,
  /** The customer of this server, possibly of another platform, who has the UMA address. */
  receiver_customer_id: col.text.null,
  /** The UMA address sent to the receiving provider. */
  sender: col.text,
  /** The sender, or null for the platform. */
  customer_id: col.text.null,
  /** The preferred currency first. Never empty. */
  currencies: col.json<OfferedCurrency[]>(),
  required_payer_data: col.json<CounterpartyFieldDefinition[]>(),
  expires_at: col.time,
  created_at: col.time,
});

export type PayeeDiscoveryRow = RowOf<typeof payeeDiscoveries>;
