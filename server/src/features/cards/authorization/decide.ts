// Decides about a request of a card network. A pure function returns the decline reason for the
// rows as read. An approved debit holds the amount in the change set that records it. The commit
// fails if a card was frozen or funds were spent concurrently, and the request is decided again.
import type { CardDecision, CardRequest, DeclineReason } from '../../../connectors/ports/cards.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { type CustomerRow, readCustomer, requireCustomer } from '../../customers/records/index.ts';
import { spendableOf } from '../clearing/payment.ts';
import { activeKeyOf } from '../delegated-keys/delegated-keys.ts';
import type { CardDeps } from '../deps.ts';
import { checkAmount, openPayment } from '../issuing/open.ts';
import type { CardRow, DelegatedKeyRow } from '../store.ts';
import { declineReason, type FundingSourceState } from './decline.ts';
import { writeDecision } from './messages.ts';

interface DebitedAccount {
  source: FundingSourceState;
  account: InternalAccountRow;
  /** Key that signs for the account, or undefined if the account is not a wallet or has no key. */
  key: DelegatedKeyRow | undefined;
}

/** The first account of a card, the only one that is debited. Undefined if it does not exist. */
export async function findPrimaryFundingSource(
  ctx: Ctx,
  card: CardRow,
): Promise<DebitedAccount | undefined> {
  const [id = ''] = card.funding;
  const [account, ledgerAccount] = await Promise.all([
    readInternalAccount(ctx, id),
    readLedgerAccount(ctx, id),
  ]);
  if (!account || !ledgerAccount) return undefined;
  const needsKey = account.type === 'EMBEDDED_WALLET';
  const key = needsKey ? await activeKeyOf(ctx, card.id, id) : undefined;
  const maySign = !needsKey || key !== undefined;
  return { account, key, source: { account, maySign, spendable: spendableOf(ledgerAccount) } };
}

/** The merchant is not recorded for an erased customer. */
export const withoutMerchant = (
  request: CardRequest,
  holder: CustomerRow | undefined,
): CardRequest =>
  !holder || (holder.deleted_at !== null && holder.data_key === null)
    ? { ...request, merchant: { descriptor: '-' } }
    : request;

/** Stages a decline: an entry in the decision log, without a payment and without an event. */
function decline(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
  { holder, reason }: { holder: CustomerRow | undefined; reason: DeclineReason },
): CardDecision {
  // The holder is required, because a concurrent erasure would not find the new entry.
  if (holder) requireCustomer(ctx, holder);
  const decision = { approved: false, reason } as const;
  writeDecision(ctx, card, withoutMerchant(request, holder), decision);
  return decision;
}

/** Stages a decline with the reason TOO_LATE. */
export async function declineLate(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
): Promise<CardDecision> {
  const holder = await readCustomer(ctx, card.customer_id);
  return decline(ctx, card, request, { holder, reason: 'TOO_LATE' });
}

/**
 * Decides, stages an approved payment, and records the decision. A decline is a normal result. The
 * caller has checked that the message was not decided before (`findEarlierDecision`).
 */
export async function decide(
  ctx: Ctx,
  deps: CardDeps,
  card: CardRow,
  request: CardRequest,
): Promise<CardDecision> {
  checkAmount(request);
  const [holder, firstDebitedAccount] = await Promise.all([
    readCustomer(ctx, card.customer_id),
    findPrimaryFundingSource(ctx, card),
  ]);
  const { issuer } = deps.connectors(ctx.caller.environment);
  const issuerDecline = issuer?.declineReason?.(request);
  const source = firstDebitedAccount?.source;
  const reason = declineReason({ card, request, issuerDecline, holder, source, now: ctx.now });
  if (reason) return decline(ctx, card, request, { holder, reason });
  if (!holder || !firstDebitedAccount) throw new Error(`${card.id} has no holder or no account`);
  if (request.kind === 'BALANCE_INQUIRY') {
    requireCustomer(ctx, holder);
    writeDecision(ctx, card, request, { approved: true });
    return { approved: true };
  }
  const { account, key } = firstDebitedAccount;
  const paymentOrFault = await ctx.attempt(() =>
    openPayment(ctx, deps, { card, holder, account, key, request }),
  );
  if (paymentOrFault instanceof Fault) {
    if (paymentOrFault.code !== 'WALLET_SIGNATURE_INVALID') throw paymentOrFault;
    // The custodian did not sign or returned an invalid signature. A network does not wait for a
    // retry.
    return decline(ctx, card, request, { holder, reason: 'NO_FUNDING_SOURCE' });
  }
  const decision = { approved: true, transactionId: paymentOrFault.id } as const;
  writeDecision(ctx, card, request, decision);
  return decision;
}
