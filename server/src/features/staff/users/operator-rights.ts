// The current rights of operators. A token has at most the rights of its responsible user.
import type { Operator } from '../../../kernel/caller.ts';
import type { Time } from '../../../kernel/effects.ts';
import { isId } from '../../../kernel/id.ts';
import type { RowVersion } from '../../../runtime/committer/change-set.ts';
import type { Reader } from '../../../runtime/operation/context.ts';
import { permissionsOf } from '../roles/index.ts';
import { type CurrentOperator, readTokenOperator } from '../tokens/index.ts';
import { operatorUsers, type UserRow } from './store.ts';

/** Restricts a token to the current rights of its responsible user. */
export function restrictToUser(operator: Operator, user: UserRow): Operator {
  const permissions = permissionsOf(user.roles);
  const { platform_ids: userPlatformIds } = user;
  const { platformIds: tokenPlatformIds } = operator;
  return {
    ...operator,
    permissions: operator.permissions.filter((each) => permissions.includes(each)),
    platformIds:
      userPlatformIds && tokenPlatformIds
        ? tokenPlatformIds.filter((id) => userPlatformIds.includes(id))
        : (tokenPlatformIds ?? userPlatformIds),
  };
}

export const operatorOfUser = (
  user: Pick<UserRow, 'id' | 'name' | 'roles' | 'platform_ids'>,
): Operator => ({
  kind: 'USER',
  id: user.id,
  personId: user.id,
  name: user.name,
  roles: user.roles,
  permissions: permissionsOf(user.roles),
  platformIds: user.platform_ids,
});

async function activeUser({ read }: Reader, id: string): Promise<UserRow | undefined> {
  const row = await read(operatorUsers, id);
  return row?.status === 'ACTIVE' ? row : undefined;
}

const versionOf = ({ id, version }: UserRow): RowVersion => ({ table: operatorUsers, id, version });

/** The current rights of the user or token with this ID. */
export async function readCurrentOperator(
  reader: Reader,
  id: string,
  now: Time,
): Promise<CurrentOperator> {
  if (isId(id, 'OperatorUser')) {
    const user = await activeUser(reader, id);
    return user
      ? { operator: operatorOfUser(user), rows: [versionOf(user)] }
      : { operator: undefined, rows: [] };
  }
  const token = await readTokenOperator(reader, id, now);
  const { operator } = token;
  if (!operator || !isId(operator.personId, 'OperatorUser')) return token;
  const user = await activeUser(reader, operator.personId);
  if (!user) return { operator: undefined, rows: [] };
  return { operator: restrictToUser(operator, user), rows: [...token.rows, versionOf(user)] };
}
