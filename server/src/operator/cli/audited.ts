// The operator's command as an actor of audit records: the user of the machine.
import os from 'node:os';
import { type AuditedRuntime, auditedRuntime } from '../../features/staff/audit/index.ts';
import type { Operator } from '../../kernel/caller.ts';
import { OPERATOR_PERMISSION_NAMES } from '../../kernel/contract/operator-permissions.ts';
import { isAnyId } from '../../kernel/id.ts';
import { OPERATOR_OPERATIONS } from '../../operator-api/index.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { CommandArgs } from './flags.ts';
import type { System, Verb } from './verb.ts';

/** The name of the user of this process, or the number of a user without a name. */
function processUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** `user@machine`. */
const userName = ({ SUDO_USER }: Readonly<Record<string, string | undefined>>): string =>
  `${SUDO_USER ?? processUser()}@${os.hostname()}`;

export const commandOperator = (env: Readonly<Record<string, string | undefined>>): Operator => ({
  kind: 'COMMAND',
  id: 'command',
  personId: 'command',
  name: userName(env),
  roles: [],
  permissions: OPERATOR_PERMISSION_NAMES,
  platformIds: null,
});

interface AuditedCommand extends Pick<AuditedRuntime, 'count' | 'recordAccess'> {
  system: System;
}

/** Verbs whose operations show personal data. */
const REVEALING_COMMANDS = new Set(
  OPERATOR_OPERATIONS.flatMap(({ contract }) => (contract.reveals ? contract.commands : [])),
);

/** Whether each use of a verb is recorded, even without a change. */
export const isRevealing = ({ noun, verb }: Pick<Verb, 'noun' | 'verb'>): boolean =>
  REVEALING_COMMANDS.has(`${noun} ${verb}`);

/** The positional argument, or undefined if it is not the ID of a resource. */
function subjectOf({ positional, flags }: Pick<Verb, 'positional' | 'flags'>, args: CommandArgs) {
  const value = positional !== undefined && positional in flags ? args.text(positional) : undefined;
  return value !== undefined && isAnyId(value) ? value : undefined;
}

/** The installation with a runtime whose commits contain audit records of a verb. */
export function auditedCommand(
  system: System,
  verb: Verb,
  args: CommandArgs,
  env: Readonly<Record<string, string | undefined>>,
): AuditedCommand {
  const operator = commandOperator(env);
  const { runtime, checkMasterKey } = system;
  // Records under another master key could not be verified.
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
      operationId: `${verb.noun} ${verb.verb}`,
      subject: subjectOf(verb, args),
      reason: args.text('reason'),
    },
  );
  return { ...audited, system: { ...system, runtime: audited.runtime, operator } };
}
