// An API token: the client id a platform signs in with, what it may do, and a hash of its secret.
import type { Permission } from '../../kernel/operation.ts';
import { col, type RowOf, table } from '../../runtime/table.ts';

export const tokens = table('tokens', {
  id: col.text,
  platform_id: col.text,
  name: col.text,
  permissions: col.json<Permission[]>(),
  client_id: col.text,
  /** SHA-256 of the secret, hex; the secret itself is random enough to need no slower hash. */
  secret_hash: col.text,
  created_at: col.time,
  updated_at: col.time,
  version: col.int4,
});

export type TokenRow = RowOf<typeof tokens>;
