// The operator's command as an actor of audit records: the user of the machine.
import os from 'node:os';
import { auditedRuntime } from '../../features/staff/audit/index.ts';
import type { Operator } from '../../kernel/caller.ts';
import { OPERATOR_PERMISSION_NAMES } from '../../kernel/contract/operator-permissions.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { CommandArgs } from './flags.ts';
import type { System, Verb } from './verb.ts';

/** `user@machine`. */
function userName(env: Readonly<Record<string, string | undefined>>): string {
  const user = env.SUDO_USER ?? env.USER ?? env.LOGNAME ?? String(process.getuid?.() ?? 'unknown');
  return `${user}@${os.hostname()}`;
}

export const commandOperator = (env: Readonly<Record<string, string | undefined>>): Operator => ({
  kind: 'COMMAND',
  id: 'command',
  name: userName(env),
  roles: [],
  permissions: OPERATOR_PERMISSION_NAMES,
  platformIds: null,
});

/** The installation with a runtime whose commits contain audit records of a verb. */
export function auditedCommand(
  system: System,
  { noun, verb }: Pick<Verb, 'noun' | 'verb'>,
  args: CommandArgs,
  env: Readonly<Record<string, string | undefined>>,
): { system: System; count(): number } {
  const operator = commandOperator(env);
  const { runtime, checkMasterKey } = system;
  // Records of another master key could not be verified.
  const committer: Runtime['committer'] = {
    async commit(set) {
      await checkMasterKey?.();
      return runtime.committer.commit(set);
    },
  };
  const audited = auditedRuntime(
    { ...runtime, committer },
    {
      operator,
      operationId: `${noun} ${verb}`,
      reason: args.text('reason'),
    },
  );
  return {
    system: { ...system, runtime: audited.runtime, operator },
    count: audited.count,
  };
}
