// `operator-user create|list|update|recover`: users of the operator API. The command needs no
// approval by a second person. Audit records contain the command as the operator.
import { ROLE_NAMES, type RoleName } from '../../features/staff/roles/index.ts';
import {
  createOperatorUser,
  type InvitedUser,
  listOperatorUsers,
  type OperatorUser,
  recoverOperatorUser,
  updateOperatorUser,
} from '../../features/staff/users/index.ts';
import { commandOperator } from '../cli/audited.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const operatorOf = ({ operator = commandOperator(process.env) }: System) => operator;

const platformsOf = ({ platformIds }: OperatorUser) => platformIds?.join(', ') ?? 'all';

const userLines = (user: OperatorUser): [string, string][] => [
  ['Operator user', user.id],
  ['Name', user.name],
  ['E-mail', user.email ?? '-'],
  ['Roles', user.roles.join(', ')],
  ['Platforms', platformsOf(user)],
  ['Status', user.status],
];

const invitedOutput = (json: InvitedUser): Output => ({
  json,
  text: record([
    ...userLines(json),
    ['Link', `/operator/enroll#${json.link.secret}  (shown only once)`],
    ['Expires', json.link.expiresAt],
  ]),
});

const create = async (system: System, args: CommandArgs): Promise<Output> =>
  invitedOutput(
    await createOperatorUser(system.runtime, operatorOf(system), {
      name: args.required('name'),
      email: args.required('email'),
      roles: (args.list('role') ?? []) as RoleName[],
      platformIds: args.list('platforms'),
    }),
  );

async function list({ runtime }: System): Promise<Output> {
  const { data: json } = await listOperatorUsers(runtime, { limit: 1_000 });
  const heads = ['OPERATOR USER', 'NAME', 'E-MAIL', 'ROLES', 'PLATFORMS', 'STATUS'];
  const text = table(
    heads,
    json.map((each) => [
      ...[each.id, each.name, each.email ?? '-', each.roles.join(',')],
      ...[platformsOf(each), each.status],
    ]),
  );
  return { json, text };
}

async function update(system: System, args: CommandArgs): Promise<Output> {
  const status = args.text('status');
  const platformIds = args.list('platforms');
  const json = await updateOperatorUser(system.runtime, operatorOf(system), args.required('user'), {
    name: args.text('name'),
    roles: args.list('role') as RoleName[] | undefined,
    platformIds: platformIds?.[0] === 'all' ? null : platformIds,
    isDisabled: status === undefined ? undefined : status === 'disabled',
  });
  return { json, text: record(userLines(json)) };
}

const recover = async (system: System, args: CommandArgs): Promise<Output> =>
  invitedOutput(
    await recoverOperatorUser(system.runtime, operatorOf(system), args.required('user')),
  );

// The flag is `--role`, because `--roles` is a setting of the server.
const role = {
  value: 'viewer,support',
  list: true,
  choices: ROLE_NAMES,
  help: 'Roles of the user',
} as const;
const user = { value: 'USER', required: true, help: 'ID of the operator user' } as const;

export const operatorUserVerbs: readonly Verb[] = [
  {
    noun: 'operator-user',
    verb: 'create',
    summary: 'Create a user of the operator API. The enrollment link is shown only once',
    flags: {
      name: { value: 'NAME', required: true, help: 'Name of the person' },
      email: { value: 'EMAIL', required: true, help: 'E-mail address of the person' },
      role: { ...role, required: true },
      platforms: {
        value: 'PLATFORM,…',
        list: true,
        help: 'Platforms that the user may access (default: all)',
      },
    },
    positional: 'name',
    run: create,
  },
  {
    noun: 'operator-user',
    verb: 'list',
    summary: 'List users of the operator API, newest first',
    flags: {},
    run: list,
  },
  {
    noun: 'operator-user',
    verb: 'update',
    summary: 'Change the name, roles, platforms or status of a user of the operator API',
    flags: {
      user,
      name: { value: 'NAME', help: 'Name of the person' },
      role,
      platforms: {
        value: 'PLATFORM,…',
        list: true,
        help: 'Platforms that the user may access, or all',
      },
      status: {
        value: 'active|disabled',
        choices: ['active', 'disabled'],
        help: 'Status of the user',
      },
    },
    positional: 'user',
    run: update,
  },
  {
    noun: 'operator-user',
    verb: 'recover',
    summary: 'Create a link for a user of the operator API who has lost every sign-in method',
    flags: { user, reason: { value: 'TEXT', required: true, help: 'Reason for the audit record' } },
    positional: 'user',
    run: recover,
  },
];
