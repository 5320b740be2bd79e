// Authenticates operators by the bearer secret of their token. It is read for each request, so that a
// revocation is effective at once; requests of operators are few.
import type { Operator } from '../../../kernel/caller.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { permissionsOf } from '../roles/index.ts';
import { type OperatorTokenRow, operatorTokens } from './store.ts';

const rejected = () => new Fault('UNAUTHORIZED', 'The operator token is missing or invalid.');

const SECRET = /^bearer +(rho_[A-Za-z0-9_-]{43}) *$/i;

interface OperatorAuthenticator {
  /** The operator of an `Authorization` header. Throws UNAUTHORIZED. */
  operatorOf(authorization: string | undefined): Promise<Operator>;
  /** The operator of a token by its ID; undefined if the token is no longer valid. */
  operatorById(id: string): Promise<Operator | undefined>;
}

export function operatorTokenAuthenticator({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): OperatorAuthenticator {
  function validOperator(row: OperatorTokenRow | undefined): Operator | undefined {
    if (!row || row.revoked_at !== null || row.expires_at <= effects.now()) return undefined;
    return {
      kind: 'TOKEN',
      id: row.id,
      personId: row.person_id,
      name: row.name,
      roles: row.roles,
      permissions: permissionsOf(row.roles),
      platformIds: row.platform_ids,
    };
  }

  return {
    async operatorOf(authorization) {
      const secret = SECRET.exec(authorization ?? '')?.[1];
      if (secret === undefined) throw rejected();
      const [row] = await db.find(operatorTokens, { secret_hash: sha256Hex(secret) });
      const operator = validOperator(row);
      if (!operator) throw rejected();
      return operator;
    },
    operatorById: async (id) => validOperator(await db.read(operatorTokens, id)),
  };
}
