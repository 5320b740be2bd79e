// Authenticates operators by the bearer secret of their token. The token is read for each request, so that a
// revocation takes effect immediately. The cost of this read is small, because requests of operators are
// rare.
import type { Operator } from '../../../kernel/caller.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { RowVersion } from '../../../runtime/committer/change-set.ts';
import type { Reader } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { permissionsOf } from '../roles/index.ts';
import { type OperatorTokenRow, operatorTokens } from './store.ts';

const unauthorizedFault = () =>
  new Fault('UNAUTHORIZED', 'The operator token is missing or invalid.');

const SECRET = /^bearer +(rho_[A-Za-z0-9_-]{43}) *$/i;

const isActiveToken = ({ revoked_at, expires_at }: OperatorTokenRow, now: Time): boolean =>
  revoked_at === null && expires_at > now;

/** A token as an operator, with its own rights. */
const operatorOfToken = (row: OperatorTokenRow): Operator => ({
  kind: 'TOKEN',
  id: row.id,
  personId: row.person_id,
  name: row.name,
  roles: row.roles,
  permissions: permissionsOf(row.roles),
  platformIds: row.platform_ids,
});

/** An operator with the current rights. */
export interface CurrentOperator {
  /**
   * Undefined for a disabled user, for a token that was revoked or has expired, and for a token of
   * a disabled user.
   */
  operator: Operator | undefined;
  /** The rows on which the rights depend. */
  rows: RowVersion[];
}

/** The token with this ID and its own rights. */
export async function readTokenOperator(
  { read }: Reader,
  id: string,
  now: Time,
): Promise<CurrentOperator> {
  const row = isId(id, 'OperatorToken') ? await read(operatorTokens, id) : undefined;
  if (!row || !isActiveToken(row, now)) return { operator: undefined, rows: [] };
  const rows = [{ table: operatorTokens, id, version: row.version }];
  return { operator: operatorOfToken(row), rows };
}

interface OperatorAuthenticator {
  /** The operator of an `Authorization` header. Throws UNAUTHORIZED. */
  operatorOf(authorization: string | undefined): Promise<Operator>;
}

export const operatorTokenAuthenticator = ({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): OperatorAuthenticator => ({
  async operatorOf(authorization) {
    const secret = SECRET.exec(authorization ?? '')?.[1];
    if (secret === undefined) throw unauthorizedFault();
    const [row] = await db.find(operatorTokens, { secret_hash: sha256Hex(secret) });
    if (!row || !isActiveToken(row, effects.now())) throw unauthorizedFault();
    return operatorOfToken(row);
  },
});
