// `token create|list|revoke`: credentials of any platform. An operator may revoke every token, the last
// one included; a running server accepts it for two more seconds at most.
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { createTokenFor, type TokenRow, tokens } from '../../features/tenancy/tokens/index.ts';
import { PERMISSIONS, type Permission } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Given } from '../cli/flags.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from './platform.ts';

const view = (row: TokenRow) => ({
  tokenId: row.id,
  platformId: row.platform_id,
  name: row.name,
  permissions: row.permissions,
  clientId: row.client_id,
  createdAt: iso(row.created_at),
});

async function create(system: System, given: Given): Promise<Output> {
  const { id, environment } = await platformOf(system, given.needed('platform'));
  const refuse = (error: unknown) => {
    // The flags are right; what the platform has is in conflict with them.
    throw error instanceof Fault ? new Fault('CONFLICT', error.message) : error;
  };
  const made = await operate(system.runtime, systemCaller(id, environment), (ctx) =>
    createTokenFor(ctx, {
      platformId: id,
      name: given.text('name') ?? 'Made by the operator',
      permissions: (given.list('permissions') ?? []) as Permission[],
    }),
  ).catch(refuse);
  const { row, clientSecret } = made;
  const text = record([
    ['Token', row.id],
    ['Permissions', row.permissions.join(', ')],
    ['Client id', row.client_id],
    ['Client secret', `${clientSecret}  (shown only now)`],
  ]);
  return { json: { tokenId: row.id, clientId: row.client_id, clientSecret }, text };
}

const PAGE = 1_000;

async function list(system: System, given: Given): Promise<Output> {
  const only = given.text('platform');
  const of = only === undefined ? undefined : (await platformOf(system, only)).id;
  const filters = of ? [{ column: 'platform_id', op: '=', value: of } as const] : [];
  const all: TokenRow[] = [];
  let cursor: string | undefined;
  do {
    const query = { filters, sort: 'asc', limit: PAGE, cursor } as const;
    const page = await system.runtime.db.page(tokens, query);
    all.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor);
  const heads = ['TOKEN', 'PLATFORM', 'NAME', 'PERMISSIONS', 'CLIENT ID', 'CREATED'];
  const rows = all
    .map(view)
    .map((each) => [
      each.tokenId,
      each.platformId,
      each.name,
      each.permissions.join(','),
      each.clientId,
      each.createdAt,
    ]);
  return {
    json: all.map(view),
    text: table(
      heads.map((head) => ({ head })),
      rows,
    ),
  };
}

async function revoke(system: System, given: Given): Promise<Output> {
  const { runtime } = system;
  const id = given.needed('token');
  const known = isId(id, 'Token') ? await runtime.db.read(tokens, id) : undefined;
  if (!known) throw notFound('token');
  const { environment } = await platformOf(system, known.platform_id);
  await operate(runtime, systemCaller(known.platform_id, environment), async (ctx) => {
    const row = await ctx.read(tokens, id);
    if (!row) throw notFound('token');
    ctx.remove(tokens, row);
  });
  return { json: { tokenId: id, revoked: true }, text: `${id} is revoked.\n` };
}

export const tokenVerbs: readonly Verb[] = [
  {
    noun: 'token',
    verb: 'create',
    summary: 'Create a token; its secret is shown only now',
    flags: {
      platform: { value: 'PLATFORM', required: true, help: 'Id of the platform' },
      permissions: {
        value: 'VIEW,TRANSACT',
        required: true,
        list: true,
        choices: PERMISSIONS,
        help: 'What it may do',
      },
      name: { value: 'NAME', help: 'What to call it' },
    },
    bare: 'platform',
    run: create,
  },
  {
    noun: 'token',
    verb: 'list',
    summary: 'List tokens, oldest first; secrets are never shown',
    flags: { platform: { value: 'PLATFORM', help: 'Only those of this platform' } },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'token',
    verb: 'revoke',
    summary: 'Make a token useless',
    flags: { token: { value: 'TOKEN', required: true, help: 'Id of the token' } },
    bare: 'token',
    run: revoke,
  },
];
