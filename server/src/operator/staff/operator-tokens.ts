// `operator-token create|list|revoke`: bearer tokens of the operator API.
import { ROLE_NAMES, type RoleName } from '../../features/staff/roles/index.ts';
import {
  createOperatorToken,
  listOperatorTokens,
  MAX_TOKEN_DAYS,
  revokeOperatorToken,
} from '../../features/staff/tokens/index.ts';
import { commandOperator } from '../cli/audited.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const DEFAULT_DAYS = 90;

const operatorOf = ({ operator = commandOperator(process.env) }: System) => operator;

function daysIn(args: CommandArgs): number {
  const days = Number(args.text('days') ?? DEFAULT_DAYS);
  if (Number.isInteger(days) && days >= 1 && days <= MAX_TOKEN_DAYS) return days;
  throw usageError(`--days must be a whole number from 1 to ${MAX_TOKEN_DAYS}`);
}

async function create(system: System, args: CommandArgs): Promise<Output> {
  const json = await createOperatorToken(system.runtime, operatorOf(system), {
    name: args.required('name'),
    roles: (args.list('role') ?? []) as RoleName[],
    platformIds: args.list('platforms'),
    days: daysIn(args),
  });
  const text = record([
    ['Operator token', json.id],
    ['Roles', json.roles.join(', ')],
    ['Platforms', json.platformIds?.join(', ') ?? 'all'],
    ['Expires', json.expiresAt],
    ['Secret', `${json.secret}  (shown only once)`],
  ]);
  return { json, text };
}

async function list({ runtime }: System): Promise<Output> {
  const { data: json } = await listOperatorTokens(runtime, { limit: 1_000 });
  const heads = ['OPERATOR TOKEN', 'NAME', 'ROLES', 'PLATFORMS', 'STATUS', 'EXPIRES'];
  const text = table(
    heads,
    json.map((each) => [
      ...[each.id, each.name, each.roles.join(','), each.platformIds?.join(',') ?? 'all'],
      ...[each.status, each.expiresAt],
    ]),
  );
  return { json, text };
}

async function revoke(system: System, args: CommandArgs): Promise<Output> {
  const id = args.required('token');
  const json = await revokeOperatorToken(system.runtime, operatorOf(system), id);
  return { json, text: `${id} is revoked.\n` };
}

export const operatorTokenVerbs: readonly Verb[] = [
  {
    noun: 'operator-token',
    verb: 'create',
    summary: 'Create a token of the operator API. Its secret is shown only once',
    flags: {
      name: { value: 'NAME', required: true, help: 'Display name' },
      // The name is singular, because `--roles` is a setting of the server.
      role: {
        value: 'viewer,support',
        required: true,
        list: true,
        choices: ROLE_NAMES,
        help: 'Roles of the token',
      },
      platforms: {
        value: 'PLATFORM,…',
        list: true,
        help: 'Platforms that the token may access (default: all)',
      },
      days: {
        value: 'N',
        help: `Days until the token expires, 1 to ${MAX_TOKEN_DAYS} (default: ${DEFAULT_DAYS})`,
      },
    },
    positional: 'name',
    run: create,
  },
  {
    noun: 'operator-token',
    verb: 'list',
    summary: 'List tokens of the operator API, newest first',
    flags: {},
    run: list,
  },
  {
    noun: 'operator-token',
    verb: 'revoke',
    summary: 'Revoke a token of the operator API immediately',
    flags: { token: { value: 'TOKEN', required: true, help: 'ID of the operator token' } },
    positional: 'token',
    run: revoke,
  },
];
