// Tokens of operators: a bearer secret with roles, for scripts and other systems.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { RoleName } from '../roles/index.ts';

export const operatorTokens = table('operator_tokens', {
  id: col.text,
  name: col.text,
  roles: col.enums<RoleName>(),
  /** Null for all platforms. */
  platform_ids: col.enums<string>().null,
  /** SHA-256 of the secret, hex. The secret is random, so no slower hash is needed. */
  secret_hash: col.text,
  /** ID of the operator who created the token. */
  created_by: col.text,
  /** ID of the responsible user, or of the token that the command created. */
  person_id: col.text,
  expires_at: col.time,
  revoked_at: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export type OperatorTokenRow = RowOf<typeof operatorTokens>;
