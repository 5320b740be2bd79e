// An API token: client ID, permissions and a hash of the secret.
import type { Permission } from '../../../kernel/contract/operation.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** Maximum active tokens of one platform. */
export const MAX_TOKENS = 100;

const COLUMNS = {
  id: col.text,
  platform_id: col.text,
  name: col.text,
  permissions: col.json<Permission[]>(),
  client_id: col.text,
  /** SHA-256 of the secret, hex. The secret is random, so no slower hash is needed. */
  secret_hash: col.text,
  /** 1 to `MAX_TOKENS`, unique in the platform, or null for tokens of earlier versions beyond the maximum. */
  number: col.int4.null,
  created_at: col.time,
  updated_at: col.time,
  version: col.int4,
};

// The second of two concurrent creations with one number is executed again.
export const tokens = table('tokens', COLUMNS, { contendedKeys: ['tokens_number'] });

export type TokenRow = RowOf<typeof tokens>;

/** The token of a client ID, or the platform's oldest token if no token has this ID. */
export async function tokenOfClient(
  db: Pick<Database, 'find' | 'page'>,
  platformId: string,
  clientId: string | undefined,
): Promise<TokenRow | undefined> {
  const [tokenByClientId] = clientId ? await db.find(tokens, { client_id: clientId }) : [];
  if (tokenByClientId) return tokenByClientId;
  const filters = [{ column: 'platform_id', op: '=', value: platformId }] as const;
  return (await db.page(tokens, { filters, sort: 'asc', limit: 1 })).rows[0];
}
