// What a lookup found, kept so that a quote can hold to it: whom it was about, what the receiver takes and
// what the receiver's side wants to know. A row belongs to one platform, never changes, and counts for
// nothing once it has expired; a sweep removes it some time later.
import type { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** A currency the receiver takes, the least and most of one payment in its smallest units. */
interface OfferedCurrency {
  code: string;
  min: number;
  max: number;
}

export const payeeDiscoveries = table('payee_discoveries', {
  id: col.text,
  platform_id: col.text,
  kind: col.word<'UMA' | 'ACCOUNT'>(),
  /** A UMA address in small letters, or the id of an external account. */
  receiver: col.text,
  /** The customer of this server, perhaps of another platform, whom a UMA address belongs to. */
  receiver_customer_id: col.text.null,
  /** The UMA address that the receiver's side was told. */
  sender: col.text,
  /** Null when the platform asked for itself. */
  customer_id: col.text.null,
  /** The preferred one first; never empty. */
  currencies: col.json<OfferedCurrency[]>(),
  required_payer_data: col.json<CounterpartyFieldDefinition[]>(),
  expires_at: col.time,
  created_at: col.time,
});

export type PayeeDiscoveryRow = RowOf<typeof payeeDiscoveries>;
