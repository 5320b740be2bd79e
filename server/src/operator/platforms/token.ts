// `token create|list|revoke`: credentials of any platform. An operator may revoke every token,
// including the last one. A running server accepts a revoked token for at most two more seconds.
import {
  createPlatformToken,
  listPlatformTokens,
  revokeToken,
} from '../../features/tenancy/tokens/index.ts';
import { PERMISSIONS, type Permission } from '../../kernel/contract/operation.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

async function create({ runtime }: System, args: CommandArgs): Promise<Output> {
  const createdPlatformToken = await createPlatformToken(runtime, {
    platformId: args.required('platform'),
    name: args.text('name') ?? 'Created by the operator',
    permissions: (args.list('permissions') ?? []) as Permission[],
  });
  const { tokenId, clientId, clientSecret } = createdPlatformToken;
  const text = record([
    ['Token', tokenId],
    ['Permissions', createdPlatformToken.permissions.join(', ')],
    ['Client ID', clientId],
    ['Client secret', `${clientSecret}  (shown only once)`],
  ]);
  return { json: { tokenId, clientId, clientSecret }, text };
}

async function list({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await listPlatformTokens(runtime, args.text('platform'));
  const heads = ['TOKEN', 'PLATFORM', 'NAME', 'PERMISSIONS', 'CLIENT ID', 'CREATED'];
  const text = table(
    heads,
    json.map((each) => [
      each.tokenId,
      each.platformId,
      each.name,
      each.permissions.join(','),
      each.clientId,
      each.createdAt,
    ]),
  );
  return { json, text };
}

async function revoke({ runtime }: System, args: CommandArgs): Promise<Output> {
  const id = args.required('token');
  await revokeToken(runtime, id);
  return { json: { tokenId: id, revoked: true }, text: `${id} is revoked.\n` };
}

export const tokenVerbs: readonly Verb[] = [
  {
    noun: 'token',
    verb: 'create',
    summary: 'Create a token. Its secret is shown only once',
    flags: {
      platform: { value: 'PLATFORM', required: true, help: 'ID of the platform' },
      permissions: {
        value: 'VIEW,TRANSACT',
        required: true,
        list: true,
        choices: PERMISSIONS,
        help: 'Permissions of the token',
      },
      name: { value: 'NAME', help: 'Display name (default: Created by the operator)' },
    },
    positional: 'platform',
    run: create,
  },
  {
    noun: 'token',
    verb: 'list',
    summary: 'List tokens, oldest first. Secrets are never shown',
    flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' } },
    positional: 'platform',
    run: list,
  },
  {
    noun: 'token',
    verb: 'revoke',
    summary: 'Revoke a token',
    flags: { token: { value: 'TOKEN', required: true, help: 'ID of the token' } },
    positional: 'token',
    run: revoke,
  },
];
