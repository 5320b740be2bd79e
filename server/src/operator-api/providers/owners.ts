// The operators who can work on a difference: active users and tokens.
import { sessions } from '../../features/staff/users/index.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';

export const isOperatorOf =
  ({ db, effects }: Pick<Runtime, 'db' | 'effects'>) =>
  async (id: string): Promise<boolean> =>
    (await sessions.presentOperator(db, id, effects.now())).operator !== undefined;
