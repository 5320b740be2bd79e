// Messages received from providers, with their results.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const STORED_RESULTS = ['APPLIED', 'IGNORED', 'REJECTED', 'CONTRADICTORY'] as const;
export type StoredResult = (typeof STORED_RESULTS)[number];

/** `id` is the provider and the ID that it assigned. */
export const providerMessages = table(
  'provider_messages',
  {
    id: col.text,
    provider_id: col.text,
    platform_id: col.text.null,
    type: col.text.null,
    transaction_id: col.text.null,
    /** SHA-256 of the body, hex. */
    digest: col.text,
    result: col.enum<StoredResult>(),
    problem: col.text.null,
    /** The body of a message that had no effect; sealed. */
    body: col.text.null,
    created_at: col.time,
  },
  { clientKeyed: true },
);
export type ProviderMessageRow = RowOf<typeof providerMessages>;
