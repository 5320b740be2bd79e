// Links to the hosted verification page. Of a link's secret only the hash is kept, so nobody who reads the
// table can open the page; a link ends when its time is over or when a submission through it was accepted.
import { stateTable } from '../../../kernel/states.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const linkStates = stateTable<'OPEN' | 'USED', 'accept'>('Verification link', {
  OPEN: { accept: 'USED' },
  USED: {},
});

export const kycLinks = table(
  'kyc_links',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    secret_hash: col.text,
    /** Where the page leads when it is done. */
    redirect_uri: col.text.null,
    expires_at: col.time,
    used_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => (row.used_at === null ? 'OPEN' : 'USED'), states: linkStates }],
  },
);

export type KycLinkRow = RowOf<typeof kycLinks>;
