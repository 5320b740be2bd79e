// Funding sources of a card. Each funding source has a separate row, because delegated keys belong
// to it. The keys of a removed funding source are revoked. An account that is added again later has
// no keys.
import type { FundedCard, IssuerPort } from '../../../connectors/ports/cards.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { revokeKeysOf } from '../delegated-keys/delegated-keys.ts';
import { type CardRow, type FundingSourceRow, fundingSources } from '../store.ts';
import { canFundCards } from './payment.ts';

type Holder = Pick<CardRow, 'platform_id' | 'customer_id'>;

/** Reason for which an account cannot fund the card, or undefined if it can. */
function ineligibilityOf(
  account: Pick<InternalAccountRow, 'id' | 'customer_id' | 'currency' | 'status'>,
  holder: Pick<Holder, 'customer_id'>,
  issuer: Pick<IssuerPort, 'accepts'>,
  card: FundedCard,
): string | undefined {
  if (account.customer_id !== holder.customer_id) return 'does not belong to the cardholder';
  if (!canFundCards(account.currency))
    return `is in ${account.currency}, which cannot pay for cards`;
  if (account.status !== 'ACTIVE') return `is ${account.status}`;
  if (issuer.accepts?.(account.id, card) === false) return 'is not accepted by the issuer';
  return undefined;
}

/**
 * Throws FUNDING_SOURCE_INELIGIBLE with the reason for each ineligible account of a list. The
 * change set requires the accounts as read.
 */
export async function checkFunding(
  ctx: Ctx,
  issuer: Pick<IssuerPort, 'accepts'>,
  holder: Holder & { card: FundedCard },
  ids: readonly string[],
): Promise<void> {
  const rows = await Promise.all(
    ids.map((id) => (isId(id, 'InternalAccount') ? readInternalAccount(ctx, id) : undefined)),
  );
  const ownAccounts = rows.map((row) =>
    row?.platform_id === holder.platform_id ? row : undefined,
  );
  const [firstAccount] = ownAccounts;
  const errors = ownAccounts.flatMap((row, index) => {
    const hasOtherCurrency = row && firstAccount && row.currency !== firstAccount.currency;
    const message = row
      ? (ineligibilityOf(row, holder, issuer, holder.card) ??
        (hasOtherCurrency && 'has a different currency from the first funding source'))
      : 'is not the ID of an internal account';
    return message ? [{ field: `fundingSources.${index}`, message }] : [];
  });
  if (errors.length) {
    const reason = errors.map(({ field, message }) => `${field} ${message}`).join(', ');
    throw new Fault('FUNDING_SOURCE_INELIGIBLE', reason, { errors });
  }
  for (const row of ownAccounts) if (row) requireInternalAccount(ctx, row);
}

/** Current funding sources of a card. */
export const fundingSourcesOf = (
  ctx: Ctx,
  { id }: Pick<CardRow, 'id'>,
): Promise<FundingSourceRow[]> => ctx.db.find(fundingSources, { card_id: id, ended_at: null });

async function endFundingSources(ctx: Ctx, sources: readonly FundingSourceRow[]): Promise<void> {
  if (sources.length === 0) return;
  for (const row of sources) ctx.update(fundingSources, row, { ended_at: ctx.now });
  await revokeKeysOf(ctx, sources);
}

/** Stages funding sources of a card for new accounts. */
export function addFundingSources(
  ctx: Ctx,
  { id: card_id, platform_id, customer_id }: Pick<CardRow, 'id'> & Holder,
  accounts: readonly string[],
): void {
  const cardColumns = { platform_id, customer_id, card_id, created_at: ctx.now };
  for (const account_id of accounts) {
    ctx.insert(fundingSources, { id: ctx.id('CardFundingSource'), account_id, ...cardColumns });
  }
}

/** Replaces the funding sources. An account that remains keeps its keys. */
export async function replaceFundingSources(
  ctx: Ctx,
  card: CardRow,
  accounts: readonly string[],
): Promise<void> {
  const currentSources = await fundingSourcesOf(ctx, card);
  const currentAccountIds = new Set(currentSources.map((each) => each.account_id));
  await endFundingSources(
    ctx,
    currentSources.filter((each) => !accounts.includes(each.account_id)),
  );
  addFundingSources(
    ctx,
    card,
    accounts.filter((each) => !currentAccountIds.has(each)),
  );
}

export const removeFundingSources = async (ctx: Ctx, card: Pick<CardRow, 'id'>): Promise<void> =>
  endFundingSources(ctx, await fundingSourcesOf(ctx, card));

/** Up to 1,000 current and former funding sources of a card, oldest first, for the operator. */
export async function cardFundingOf(db: Database, cardId: string) {
  // In descending order null sorts first, so the current sources are within the limit even after
  // many removals.
  const latestFirstOrder = { orderBy: 'ended_at', descending: true } as const;
  const rows = await db.find(fundingSources, { card_id: cardId }, latestFirstOrder);
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  return rows.map(({ id, account_id: accountId, created_at, ended_at }) => ({
    id,
    accountId,
    since: iso(created_at),
    endedAt: ended_at === null ? null : iso(ended_at),
  }));
}
