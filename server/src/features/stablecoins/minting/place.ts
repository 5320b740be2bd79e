// Placing a mint or burn: its external accounts are registered with the provider at their first
// use, the provider validates the order, and the answer becomes the row. Nothing is ordered while
// the client waits; the job that submits it is staged with the row.
import type {
  MintPort,
  OrderAccount,
  OrderPreview,
  ProviderLink,
  Unlinked,
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
import { checkLink, linkOf, refuseUnlinked } from '../coins/provider-accounts.ts';
import { serves } from '../coins/rails.ts';
import { answerOf, mintOf, type StablecoinParts } from '../parts.ts';
import {
  mintsAndBurns,
  type ProviderAccountRow,
  providerAccounts,
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoinLinks,
  stablecoins,
} from '../store.ts';
import { setAside } from '../supply/supply.ts';
import { linkFault } from './judge.ts';
import { SUBMIT } from './operation-jobs.ts';
import {
  type End,
  endsOf,
  linkedAccount,
  linkIdOf,
  type Ordered,
  orderEnd,
  orderOf,
} from './order.ts';

/** Provider and account of an order. */
export interface Through {
  port: MintPort;
  account: ProviderAccountRow;
  link: ProviderLink;
}

/** Throws if the provider no longer accepts the account of the platform. */
export async function throughOf(
  ctx: Ctx,
  parts: StablecoinParts,
  coin: StablecoinRow,
): Promise<Through> {
  const account = await accountOfCoin(ctx, coin);
  checkLink(account);
  return { port: mintOf(ctx, parts), account, link: linkOf(ctx, account) };
}

/** An account of the platform, or of a customer that is not deleted, which supports the use. */
async function accountAt(ctx: Ctx, { accountId, use }: End): Promise<ExternalAccountRow> {
  const row = isId(accountId, 'ExternalAccount')
    ? await readExternalAccount(ctx, accountId)
    : undefined;
  const found = row?.platform_id === ctx.caller.platformId && row.deleted_at === null;
  const owner = found && row.customer_id !== null && (await customerOf(ctx, row.customer_id));
  if (!found || (owner && owner.deleted_at !== null)) {
    throw new Fault('STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND', 'External account not found.', {
      externalAccountId: accountId,
    });
  }
  if (!serves(row, use)) {
    throw new Fault(
      'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
      `The account is ${row.status}, a ${row.account_type}, and cannot be used for ${use}.`,
      { externalAccountId: accountId },
    );
  }
  requireExternalAccount(ctx, row);
  if (owner) requireCustomer(ctx, owner);
  return row;
}

/** The provider's reference of the account; registers it at its first use. */
async function linked(
  ctx: Ctx,
  { port, link, account: { id: provider_account } }: Through,
  end: End,
  row: ExternalAccountRow,
): Promise<OrderAccount | Unlinked> {
  const id = linkIdOf(provider_account, end);
  const known = await ctx.read(stablecoinLinks, id);
  if (known) return orderEnd(end, known.reference);
  const account = linkedAccount(row, end.use);
  const answer = await answerOf(() => port.linkAccount(link, account));
  if (answer.state === 'unlinked') return answer;
  if (answer.state === 'refused') throw linkFault(answer.problem, row.id);
  const { reference } = answer;
  const { platform_id, id: account_id } = row;
  const of = { id, platform_id, provider_account, account_id };
  ctx.insert(stablecoinLinks, { ...of, reference, created_at: ctx.now });
  return orderEnd(end, reference);
}

const isGone = (answer: object): answer is Unlinked =>
  'state' in answer && answer.state === 'unlinked';

/** Both ends, validated before either is registered. */
async function endsLinked(
  ctx: Ctx,
  through: Through,
  ordered: Ordered,
): Promise<{ from?: OrderAccount; to?: OrderAccount } | Unlinked> {
  const { from, to } = endsOf(ordered);
  const source = from && { end: from, row: await accountAt(ctx, from) };
  const target = to && { end: to, row: await accountAt(ctx, to) };
  const payer = source && (await linked(ctx, through, source.end, source.row));
  if (payer && isGone(payer)) return payer;
  const payee = target && (await linked(ctx, through, target.end, target.row));
  if (payee && isGone(payee)) return payee;
  return { ...(payer ? { from: payer } : {}), ...(payee ? { to: payee } : {}) };
}

/** The provider's validation of the order. */
export function prepared(
  { port, link }: Through,
  coin: StablecoinRow,
  ordered: Ordered,
  ends: { from?: OrderAccount; to?: OrderAccount } = {},
): Promise<OrderPreview> {
  const order = orderOf(coin, ordered, ends);
  return answerOf(() => port.prepare(link, order));
}

export const noSource = (): Fault =>
  new Fault(
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'The provider holds no balance for you that this could be taken from.',
  );

/** Validates the order with the provider, and stages it if accepted. */
export async function placeOrder(
  ctx: Ctx,
  coin: StablecoinRow,
  through: Through,
  ordered: Ordered,
): Promise<StablecoinOperationRow | Rejected> {
  const ends = await endsLinked(ctx, through, ordered);
  if (isGone(ends)) return refuseUnlinked(ctx, through.account, ends.as);
  const answer = await prepared(through, coin, ordered, ends);
  if (answer.state === 'unlinked') return refuseUnlinked(ctx, through.account, answer.as);
  if (answer.state === 'no-source') throw noSource();
  if (answer.state === 'refused') throw new Fault('STABLECOIN_PROVIDER_ERROR', answer.reason);
  ctx.require(stablecoins, coin);
  ctx.require(providerAccounts, through.account);
  setAside(ctx, { ...ordered, stablecoin_id: coin.id });
  ctx.later(SUBMIT, { operationId: ordered.id });
  return ctx.insert(mintsAndBurns, {
    ...ordered,
    stablecoin_id: coin.id,
    status: 'CREATED',
    funding_instructions: answer.fundingInstructions ?? null,
    estimated_delivery: answer.estimatedDelivery ?? null,
    expires_at: answer.expiresAt === undefined ? null : Math.floor(answer.expiresAt),
    updated_at: ctx.now,
  });
}
