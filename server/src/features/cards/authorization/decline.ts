// Decline reasons of a card request, without a database. The first matching check returns the
// reason, in the order card, cardholder, spending limit, funds. A merchant credit skips the checks
// of expiry, limit, balance and key. A credit that was approved in stand-in processing also skips
// the checks of a card freeze, the cardholder status and the account.

import type {
  CardRequest,
  CardRequestKind,
  DeclineReason,
} from '../../../connectors/ports/cards.ts';
import type { Time } from '../../../kernel/effects.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import type { InternalAccountRow } from '../../balances/internal-accounts/index.ts';
import { isReady } from '../../customers/eligibility/index.ts';
import type { CustomerRow } from '../../customers/records/index.ts';
import { inAccountCurrency } from '../clearing/payment.ts';
import type { CardRow } from '../store.ts';

const CREDIT_KINDS: readonly CardRequestKind[] = [
  'CREDIT_AUTHORIZATION',
  'FINANCIAL_CREDIT_AUTHORIZATION',
  'CREDIT_AUTHORIZATION_ADVICE',
];

/** Whether the amount is credited to the account. */
export const isCredit = (kind: CardRequestKind): boolean => CREDIT_KINDS.includes(kind);

/** The account that is debited or credited. */
export interface FundingSourceState {
  account: Pick<InternalAccountRow, 'status' | 'owed' | 'currency'>;
  /** Whether no key is required or an active key exists. */
  maySign: boolean;
  spendable: Money;
}

export interface AuthorizationState {
  card: Pick<CardRow, 'state' | 'currency' | 'max_spend' | 'exp_month' | 'exp_year'>;
  request: Pick<CardRequest, 'kind' | 'amount' | 'currency'>;
  issuerDecline: DeclineReason | undefined;
  holder: Pick<CustomerRow, 'status' | 'deleted_at'> | undefined;
  source: FundingSourceState | undefined;
  now: Time;
}

/** Whether the expiry month is over, in UTC. */
const isExpired = ({ card, now }: AuthorizationState): boolean =>
  card.exp_year !== null &&
  card.exp_month !== null &&
  now >= Date.UTC(card.exp_year, card.exp_month);

/**
 * Decline reason of the card. A credit approved in stand-in processing is accepted for a paused
 * card.
 */
function cardDecline(authorizationState: AuthorizationState): DeclineReason | undefined {
  const { card, request, issuerDecline } = authorizationState;
  if (card.state !== 'ACTIVE' && card.state !== 'FROZEN') return 'CARD_NOT_ACTIVE';
  const isAdvice = request.kind === 'CREDIT_AUTHORIZATION_ADVICE';
  if (card.state === 'FROZEN' && !isAdvice) return 'CARD_PAUSED';
  if (!isCredit(request.kind) && isExpired(authorizationState)) return 'CARD_EXPIRED';
  if (issuerDecline) return issuerDecline;
  // Amounts are in the currency of the card. Another currency cannot be recorded.
  return request.currency === card.currency ? undefined : 'CURRENCY_NOT_SUPPORTED';
}

/**
 * After the checks of the card, a credit approved in stand-in processing is declined only if the
 * cardholder was deleted.
 */
const creditAuthorizationDecline = ({ holder }: AuthorizationState): DeclineReason | undefined =>
  holder?.deleted_at === null ? undefined : 'CARDHOLDER_NOT_READY';

function creditDecline({ holder, source }: AuthorizationState): DeclineReason | undefined {
  if (!holder || !isReady(holder)) return 'CARDHOLDER_NOT_READY';
  return source && source.account.status !== 'CLOSED' ? undefined : 'NO_FUNDING_SOURCE';
}

function debitDecline({
  card,
  request,
  holder,
  source,
}: AuthorizationState): DeclineReason | undefined {
  if (!holder || !isReady(holder)) return 'CARDHOLDER_NOT_READY';
  if (
    card.max_spend !== null &&
    isLess({ currency: card.currency, amount: card.max_spend }, request)
  ) {
    return 'SPEND_LIMIT_EXCEEDED';
  }
  if (!source?.maySign) return 'NO_FUNDING_SOURCE';
  const { account, spendable } = source;
  if (account.status !== 'ACTIVE' || account.owed > 0n) return 'NO_FUNDING_SOURCE';
  const requiredAmount = inAccountCurrency(request.amount, account.currency);
  return isLess(spendable, requiredAmount) ? 'INSUFFICIENT_FUNDS' : undefined;
}

/** The first decline reason, or undefined if the request can be approved. */
export function declineReason(authorizationState: AuthorizationState): DeclineReason | undefined {
  const { kind } = authorizationState.request;
  const reason = cardDecline(authorizationState);
  if (reason) return reason;
  if (kind === 'CREDIT_AUTHORIZATION_ADVICE') return creditAuthorizationDecline(authorizationState);
  return isCredit(kind) ? creditDecline(authorizationState) : debitDecline(authorizationState);
}
