// Operations of stablecoins: provider accounts, tokens, and requests for use by the service. The
// operations of mints and burns are in `minting/`. The list of all operations is here.
import type { Static } from '@sinclair/typebox';
import { equals } from '../../runtime/db/database.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { handle } from '../../runtime/operation/handle.ts';
import { presentCoin, registerCoin, requestEnablement, stablecoinOf } from './coins/coins.ts';
import {
  linkAccount,
  presentProviderAccount,
  providerAccountOf,
} from './coins/provider-accounts.ts';
import {
  getStablecoin,
  getStablecoinProviderAccount,
  linkStablecoinProviderAccount,
  listStablecoinProviderAccounts,
  listStablecoins,
  registerStablecoin,
  requestStablecoinServiceEnablement,
} from './contract.ts';
import type { StablecoinDeps } from './deps.ts';
import { mintOperations } from './minting/mint-operations.ts';
import { providerAccounts, stablecoins } from './store.ts';

type AccountsQuery = Static<(typeof listStablecoinProviderAccounts)['query']>;
type CoinsQuery = Static<(typeof listStablecoins)['query']>;

async function listAccounts(ctx: Ctx, { limit = 20, cursor, ...filter }: AccountsQuery) {
  const { provider, status } = filter;
  const { platformId: platform_id } = ctx.caller;
  const filters = equals({ platform_id, provider, status });
  const query = { filters, sort: 'desc', limit, cursor } as const;
  const { rows, ...rest } = await ctx.db.page(providerAccounts, query);
  return { data: rows.map(presentProviderAccount), ...rest };
}

/** A filter by provider selects all tokens, because one provider exists. */
async function listCoins(ctx: Ctx, { limit = 20, cursor, ...filter }: CoinsQuery) {
  const filters = equals({
    platform_id: ctx.caller.platformId,
    issuance_status: filter.issuanceStatus,
    service_status: filter.serviceOperationsStatus,
  });
  const query = { filters, sort: 'desc', limit, cursor } as const;
  const { rows, ...rest } = await ctx.db.page(stablecoins, query);
  return { data: await Promise.all(rows.map((row) => presentCoin(ctx, row))), ...rest };
}

/** Every operation of this feature. */
export const stablecoinOperations = (deps: StablecoinDeps) => [
  handle(linkStablecoinProviderAccount, async (ctx, { body }) => ({
    status: 201,
    body: presentProviderAccount(await linkAccount(ctx, deps, body)),
  })),
  handle(listStablecoinProviderAccounts, async (ctx, { query }) => ({
    status: 200,
    body: await listAccounts(ctx, query),
  })),
  handle(getStablecoinProviderAccount, async (ctx, { params }) => ({
    status: 200,
    body: presentProviderAccount(await providerAccountOf(ctx, params.stablecoinProviderAccountId)),
  })),
  handle(registerStablecoin, async (ctx, { body }) => {
    const outcome = await registerCoin(ctx, deps, body);
    return 'rejected' in outcome ? outcome : { status: 201, body: outcome };
  }),
  handle(listStablecoins, async (ctx, { query }) => ({
    status: 200,
    body: await listCoins(ctx, query),
  })),
  handle(getStablecoin, async (ctx, { params }) => ({
    status: 200,
    body: await presentCoin(ctx, await stablecoinOf(ctx, params.stablecoinId)),
  })),
  handle(requestStablecoinServiceEnablement, async (ctx, { params }) => {
    const row = requestEnablement(ctx, deps, await stablecoinOf(ctx, params.stablecoinId));
    return { status: 200, body: await presentCoin(ctx, row) };
  }),
  ...mintOperations(deps),
];
