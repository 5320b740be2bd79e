// Table of messages received from providers, with their results.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const STORED_RESULTS = ['APPLIED', 'IGNORED', 'REJECTED', 'CONTRADICTORY'] as const;
export type StoredResult = (typeof STORED_RESULTS)[number];

/** `id` is the provider and the message ID, or the provider and the digest of an invalid body. */
export const providerMessages = table(
  'provider_messages',
  {
    id: col.text,
    provider_id: col.text,
    platform_id: col.text.null,
    type: col.text.null,
    transaction_id: col.text.null,
    /** SHA-256 of the body, hexadecimal. */
    digest: col.text,
    result: col.enum<StoredResult>(),
    problem: col.text.null,
    /** Body of a rejected or contradictory message, encrypted. Otherwise null. */
    body: col.text.null,
    created_at: col.time,
  },
  { clientKeyed: true },
);
export type ProviderMessageRow = RowOf<typeof providerMessages>;

export const bodyContext = (rowId: string) => `provider_messages ${rowId}`;
