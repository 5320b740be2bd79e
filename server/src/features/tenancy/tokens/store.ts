// An API token: client id, permissions and a hash of the secret.
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
  /** SHA-256 of the secret, hex. The secret itself is random enough to need no slower hash. */
  secret_hash: col.text,
  /** 1 to `MAX_TOKENS`, unique in the platform, or null for tokens of earlier versions beyond the maximum. */
  number: col.int4.null,
  created_at: col.time,
  updated_at: col.time,
  version: col.int4,
};

// Of two concurrent tokens with one number, the second runs again.
export const tokens = table('tokens', COLUMNS, { contendedKeys: ['tokens_number'] });

export type TokenRow = RowOf<typeof tokens>;

/** The token of a client id. The platform's oldest if there is none. */
export async function tokenOfClient(
  db: Pick<Database, 'find' | 'page'>,
  platformId: string,
  clientId: string | undefined,
): Promise<TokenRow | undefined> {
  const [byClientId] = clientId ? await db.find(tokens, { client_id: clientId }) : [];
  if (byClientId) return byClientId;
  const filters = [{ column: 'platform_id', op: '=', value: platformId }] as const;
  return (await db.page(tokens, { filters, sort: 'asc', limit: 1 })).rows[0];
}
