// Creates a mint or burn. Its external accounts are registered with the provider on first use. The
// provider validates the order, and its response is stored in the row. A job that is staged with
// the row submits the order after the commit.
import type {
  MintPort,
  OrderAccount,
  OrderPreview,
  ProviderLink,
  UnlinkedResult,
} from '../../../connectors/ports/stablecoins.ts';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { customerOf, requireCustomer } from '../../customers/records/index.ts';
import {
  type ExternalAccountRow,
  readExternalAccount,
  requireExternalAccount,
} from '../../payees/external-accounts/index.ts';
import { accountOfCoin } from '../coins/coins.ts';
import { checkLink, linkOf, rejectUnlinked } from '../coins/provider-accounts.ts';
import { supportsUse } from '../coins/rails.ts';
import { callProvider, mintOf, type StablecoinDeps } from '../deps.ts';
import {
  mintsAndBurns,
  type ProviderAccountRow,
  providerAccounts,
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoinLinks,
  stablecoins,
} from '../store.ts';
import { holdTokens } from '../supply/supply.ts';
import { SUBMIT } from './operation-jobs.ts';
import {
  linkedAccount,
  linkIdOf,
  type OrderFields,
  type OrderParty,
  orderAccount,
  orderOf,
  partiesOf,
} from './order.ts';
import { linkFault } from './validation.ts';

/** Provider and provider account of an order. */
export interface ProviderAccess {
  port: MintPort;
  account: ProviderAccountRow;
  link: ProviderLink;
}

/** Provider and account of a token. Throws if the provider no longer accepts the account. */
export async function providerAccessOf(
  ctx: Ctx,
  deps: StablecoinDeps,
  coin: StablecoinRow,
): Promise<ProviderAccess> {
  const account = await accountOfCoin(ctx, coin);
  checkLink(account);
  return { port: mintOf(ctx, deps), account, link: linkOf(ctx, account) };
}

/** An account of the platform, or of a customer that is not deleted, which supports the use. */
async function requirePartyAccount(
  ctx: Ctx,
  { accountId, use }: OrderParty,
): Promise<ExternalAccountRow> {
  const row = isId(accountId, 'ExternalAccount')
    ? await readExternalAccount(ctx, accountId)
    : undefined;
  const isOwn = row?.platform_id === ctx.caller.platformId && row.deleted_at === null;
  const owner = isOwn && row.customer_id !== null && (await customerOf(ctx, row.customer_id));
  if (!isOwn || (owner && owner.deleted_at !== null)) {
    throw new Fault('STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND', 'External account not found.', {
      externalAccountId: accountId,
    });
  }
  if (!supportsUse(row, use)) {
    throw new Fault(
      'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
      `The account of type ${row.account_type} is ${row.status} and cannot be used for ${use}.`,
      { externalAccountId: accountId },
    );
  }
  requireExternalAccount(ctx, row);
  if (owner) requireCustomer(ctx, owner);
  return row;
}

/** The provider's reference of the account, which is registered on first use. */
async function linkAccount(
  ctx: Ctx,
  { port, link, account: { id: provider_account } }: ProviderAccess,
  party: OrderParty,
  row: ExternalAccountRow,
): Promise<OrderAccount | UnlinkedResult> {
  const id = linkIdOf(provider_account, party);
  const knownLink = await ctx.read(stablecoinLinks, id);
  if (knownLink) return orderAccount(party, knownLink.reference);
  const account = linkedAccount(row, party.use);
  const response = await callProvider(() => port.linkAccount(link, account));
  if (response.state === 'unlinked') return response;
  if (response.state === 'rejected') throw linkFault(response.problem, row.id);
  const { reference } = response;
  const { platform_id, id: account_id } = row;
  const columns = { id, platform_id, provider_account, account_id };
  ctx.insert(stablecoinLinks, { ...columns, reference, created_at: ctx.now });
  return orderAccount(party, reference);
}

const isUnlinked = (response: object): response is UnlinkedResult =>
  'state' in response && response.state === 'unlinked';

/** The external accounts, all validated before any is registered. */
async function linkedPartiesOf(
  ctx: Ctx,
  access: ProviderAccess,
  orderFields: OrderFields,
): Promise<{ from?: OrderAccount; to?: OrderAccount } | UnlinkedResult> {
  const { from, to } = partiesOf(orderFields);
  const source = from && { party: from, row: await requirePartyAccount(ctx, from) };
  const target = to && { party: to, row: await requirePartyAccount(ctx, to) };
  const payer = source && (await linkAccount(ctx, access, source.party, source.row));
  if (payer && isUnlinked(payer)) return payer;
  const payee = target && (await linkAccount(ctx, access, target.party, target.row));
  if (payee && isUnlinked(payee)) return payee;
  return { ...(payer ? { from: payer } : {}), ...(payee ? { to: payee } : {}) };
}

/** The provider's validation of the order. */
export function validateOrder(
  { port, link }: ProviderAccess,
  coin: StablecoinRow,
  orderFields: OrderFields,
  accounts: { from?: OrderAccount; to?: OrderAccount } = {},
): Promise<OrderPreview> {
  const order = orderOf(coin, orderFields, accounts);
  return callProvider(() => port.prepare(link, order));
}

export const noSourceFault = (): Fault =>
  new Fault(
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'The platform has no balance account at the provider. Open a balance account first.',
  );

/** Validates the order with the provider, and stages it if accepted. */
export async function placeOrder(
  ctx: Ctx,
  coin: StablecoinRow,
  access: ProviderAccess,
  orderFields: OrderFields,
): Promise<StablecoinOperationRow | Rejected> {
  const accounts = await linkedPartiesOf(ctx, access, orderFields);
  if (isUnlinked(accounts)) return rejectUnlinked(ctx, access.account, accounts.reason);
  const response = await validateOrder(access, coin, orderFields, accounts);
  if (response.state === 'unlinked') return rejectUnlinked(ctx, access.account, response.reason);
  if (response.state === 'no-source') throw noSourceFault();
  if (response.state === 'rejected') throw new Fault('STABLECOIN_PROVIDER_ERROR', response.reason);
  ctx.require(stablecoins, coin);
  ctx.require(providerAccounts, access.account);
  holdTokens(ctx, { ...orderFields, stablecoin_id: coin.id });
  ctx.later(SUBMIT, { operationId: orderFields.id });
  return ctx.insert(mintsAndBurns, {
    ...orderFields,
    stablecoin_id: coin.id,
    status: 'CREATED',
    funding_instructions: response.fundingInstructions ?? null,
    estimated_delivery: response.estimatedDelivery ?? null,
    expires_at: response.expiresAt === undefined ? null : Math.floor(response.expiresAt),
    updated_at: ctx.now,
  });
}
