// Tokens of a platform at its providers: registration, API view, and requests for use by the
// service. The provider determines name, symbol and decimals.
import type { Static } from '@sinclair/typebox';
import type { ProviderToken, TokenName } from '../../../connectors/ports/stablecoins.ts';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { StablecoinRegisterRequest } from '../contract.ts';
import { callProvider, mintOf, type StablecoinDeps } from '../deps.ts';
import { scheduleEnablement, scheduleNextPoll } from '../minting/issuance-polls.ts';
import { ISSUABLE_STATUSES, isIssuable, serviceStates } from '../states.ts';
import {
  type ProviderAccountRow,
  providerAccounts,
  type StablecoinRow,
  stablecoins,
} from '../store.ts';
import { openSupplyAccounts } from '../supply/supply-accounts.ts';
import { checkLink, linkOf, rejectUnlinked, requireAccount } from './provider-accounts.ts';

type RegisterRequest = Static<typeof StablecoinRegisterRequest>;

/** The resource, with fields of its provider account. */
function presentWith(row: StablecoinRow, account: ProviderAccountRow) {
  return {
    id: row.id,
    name: row.name,
    symbol: row.symbol,
    baseCurrency: row.base_currency,
    decimals: row.decimals,
    network: row.network,
    issuanceStatus: row.issuance_status,
    serviceOperationsStatus: row.service_status,
    networkTokenIdentifier: row.network_token_identifier,
    ...(row.service_status === 'ENABLED' ? { currency: row.symbol } : {}),
    provider: account.provider,
    stablecoinProviderAccountId: account.id,
    providerEnvironment: account.provider_environment,
    providerTokenIdentifier: row.provider_token_identifier,
    ...timestamps(row),
  };
}

export async function presentCoin(ctx: Pick<Ctx, 'read'>, row: StablecoinRow) {
  return presentWith(row, await accountOfCoin(ctx, row));
}

/** The provider account that a token was registered with. */
export async function accountOfCoin(
  { read }: Pick<Ctx, 'read'>,
  { id, provider_account }: Pick<StablecoinRow, 'id' | 'provider_account'>,
): Promise<ProviderAccountRow> {
  const account = await read(providerAccounts, provider_account);
  if (!account) throw new Error(`${id} has no provider account`);
  return account;
}

/** A stablecoin of the calling platform. Throws STABLECOIN_NOT_FOUND. */
export async function stablecoinOf(ctx: Ctx, id: string): Promise<StablecoinRow> {
  const row = isId(id, 'Stablecoin') ? await ctx.read(stablecoins, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('STABLECOIN_NOT_FOUND', 'Stablecoin not found.');
  }
  return row;
}

/** Identification of a token at its provider and on its network. */
export const nameOf = (row: StablecoinRow): TokenName => ({
  providerTokenIdentifier: row.provider_token_identifier,
  networkTokenIdentifier: row.network_token_identifier,
  network: row.network,
});

/**
 * Rejects a token that is already registered. With `symbol`, also rejects another token with the
 * symbol. A token that was rejected or failed does not reserve its symbol.
 */
async function checkNotRegistered(
  ctx: Ctx,
  network_token_identifier: string,
  symbol?: string,
): Promise<void> {
  const { platformId: platform_id } = ctx.caller;
  const { stablecoins_token, stablecoins_symbol } = stablecoins.unique;
  for (const [column, value] of [
    ['network_token_identifier', network_token_identifier],
    ['symbol', symbol],
  ] as const) {
    if (value === undefined) continue;
    const filters: Filter<typeof stablecoins>[] = [
      { column: 'platform_id', op: '=', value: platform_id },
      { column, op: '=', value },
      { column: 'issuance_status', op: 'in', value: ISSUABLE_STATUSES },
    ];
    const { rows } = await ctx.db.page(stablecoins, { filters, sort: 'asc', limit: 1 });
    const [existingToken] = rows;
    if (!existingToken) continue;
    // If the same token was registered between the two reads, the row has the same symbol.
    const isSameToken = existingToken.network_token_identifier === network_token_identifier;
    const fault = isSameToken ? stablecoins_token : stablecoins_symbol;
    if (fault) throw fault();
  }
}

/**
 * The provider's data of the token, or a rejection if the provider no longer accepts the account.
 * Throws STABLECOIN_VERIFICATION_FAILED.
 */
async function tokenOf(
  ctx: Ctx,
  deps: StablecoinDeps,
  account: ProviderAccountRow,
  name: TokenName,
): Promise<ProviderToken | Rejected> {
  const mint = mintOf(ctx, deps);
  const link = linkOf(ctx, account);
  const response = await callProvider(() => mint.token(link, name, null));
  if (response.state === 'found') return response.token;
  if (response.state === 'unlinked') return rejectUnlinked(ctx, account, response.reason);
  const reason =
    response.state === 'absent'
      ? 'The provider has no token with this identifier.'
      : 'The token has a different identifier on the network.';
  throw new Fault('STABLECOIN_VERIFICATION_FAILED', reason);
}

export async function registerCoin(ctx: Ctx, deps: StablecoinDeps, body: RegisterRequest) {
  // Checked first, because a linked account has no effect without a provider.
  mintOf(ctx, deps);
  const account = await requireAccount(ctx, body.stablecoinProviderAccountId);
  checkLink(account);
  const { providerTokenIdentifier, networkTokenIdentifier, network } = body;
  await checkNotRegistered(ctx, networkTokenIdentifier);
  const name = { providerTokenIdentifier, networkTokenIdentifier, network };
  const token = await tokenOf(ctx, deps, account, name);
  if ('rejected' in token) return token;
  await checkNotRegistered(ctx, networkTokenIdentifier, token.symbol);
  ctx.require(providerAccounts, account);
  const row = ctx.insert(stablecoins, {
    id: ctx.id('Stablecoin'),
    platform_id: account.platform_id,
    provider_account: account.id,
    name: token.name,
    symbol: token.symbol,
    base_currency: token.baseCurrency,
    network,
    decimals: token.decimals,
    issuance_status: token.issuance,
    service_status: 'NOT_ENABLED',
    network_token_identifier: networkTokenIdentifier,
    provider_token_identifier: providerTokenIdentifier,
    follows: 0,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  openSupplyAccounts(ctx, row, token.issuance === 'PROVISIONED' ? token.supply : 0n);
  scheduleNextPoll(ctx, row, token);
  return presentWith(row, account);
}

const notRequestableFault = (status: string): Fault =>
  new Fault(
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    `The stablecoin is ${status}, so its enablement cannot be requested.`,
  );

/** Requests the approval of the operator. A repetition before the decision has no effect. */
export function requestEnablement(
  ctx: Ctx,
  { connectors }: StablecoinDeps,
  row: StablecoinRow,
): StablecoinRow {
  if (!isIssuable(row.issuance_status)) throw notRequestableFault(row.issuance_status);
  if (row.service_status === 'PENDING_APPROVAL') return row;
  const service_status = serviceStates.targetOf(row.service_status, 'request');
  if (service_status === undefined) throw notRequestableFault(row.service_status);
  const { mint } = connectors(ctx.caller.environment);
  if (mint?.enablesImmediately?.(nameOf(row))) scheduleEnablement(ctx, row);
  return ctx.update(stablecoins, row, { service_status, updated_at: ctx.now });
}
