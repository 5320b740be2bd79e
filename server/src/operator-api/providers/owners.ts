// Checks the assignment of a difference: its owner must be an active user or token.
import { sessions } from '../../features/staff/users/index.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';

export const isOperatorOf =
  ({ db, effects }: Pick<Runtime, 'db' | 'effects'>) =>
  async (id: string): Promise<boolean> =>
    (await sessions.readCurrentOperator(db, id, effects.now())).operator !== undefined;
