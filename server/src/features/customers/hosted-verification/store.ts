// Table of verification links. Only the hash of the secret is stored, so that read access to the
// table gives no access to the page. A link is valid until its expiry or the acceptance of a
// submission.
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
    /** Redirect target after the verification. */
    redirect_uri: col.text.null,
    expires_at: col.time,
    used_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => (row.used_at === null ? 'OPEN' : 'USED'), states: linkStates }],
  },
);

export type KycLinkRow = RowOf<typeof kycLinks>;
