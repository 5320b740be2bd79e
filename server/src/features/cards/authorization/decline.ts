// Why a request of a network is declined, without a database. The order of the checks is the order in which
// reasons are told: what is wrong with the card before what is wrong with its holder, and the money last. A
// merchant who gives money back needs neither the limit nor the balance nor a key; what a network only tells
// of such money is declined where card or holder are gone, and otherwise a fact.

import type {
  CardRequest,
  CardRequestKind,
  DeclineReason,
} from '../../../connectors/ports/cards.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import type { InternalAccountRow } from '../../balances/internal-accounts/index.ts';
import { isReady } from '../../customers/eligibility/index.ts';
import type { CustomerRow } from '../../customers/records/index.ts';
import { inAccountCurrency } from '../clearing/payment.ts';
import type { CardRow } from '../store.ts';

const CREDITS: readonly CardRequestKind[] = [
  'CREDIT_AUTHORIZATION',
  'FINANCIAL_CREDIT_AUTHORIZATION',
  'CREDIT_AUTHORIZATION_ADVICE',
];

/** Whether the money would come to the account. */
export const isCredit = (kind: CardRequestKind): boolean => CREDITS.includes(kind);

/** What pays, or is paid. */
export interface FirstSource {
  account: Pick<InternalAccountRow, 'status' | 'owed' | 'currency'>;
  /** Whether it needs no key, or has one that may sign. */
  maySign: boolean;
  /** What can be spent of it. */
  spendable: Money;
}

export interface Standing {
  card: Pick<CardRow, 'state' | 'currency' | 'max_spend'>;
  request: Pick<CardRequest, 'kind' | 'amount' | 'currency'>;
  /** What the issuer itself has against it. */
  objection: DeclineReason | undefined;
  holder: Pick<CustomerRow, 'status' | 'deleted_at'> | undefined;
  source: FirstSource | undefined;
}

/** What speaks against the card; being paused keeps nobody from telling. */
function ofCard({ card, request, objection }: Standing): DeclineReason | undefined {
  if (card.state !== 'ACTIVE' && card.state !== 'FROZEN') return 'CARD_NOT_ACTIVE';
  const tells = request.kind === 'CREDIT_AUTHORIZATION_ADVICE';
  if (card.state === 'FROZEN' && !tells) return 'CARD_PAUSED';
  if (objection) return objection;
  // Amounts are those of the card: one of another currency cannot even be written down.
  return request.currency === card.currency ? undefined : 'CURRENCY_NOT_SUPPORTED';
}

/** Of what is only told nothing but a holder who is gone. */
const ofNews = ({ holder }: Standing): DeclineReason | undefined =>
  holder?.deleted_at === null ? undefined : 'CARDHOLDER_NOT_READY';

function ofCredit({ holder, source }: Standing): DeclineReason | undefined {
  if (!holder || !isReady(holder)) return 'CARDHOLDER_NOT_READY';
  return source && source.account.status !== 'CLOSED' ? undefined : 'NO_FUNDING_SOURCE';
}

function ofDebit({ card, request, holder, source }: Standing): DeclineReason | undefined {
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
  const needed = inAccountCurrency(request.amount, account.currency);
  return isLess(spendable, needed) ? 'INSUFFICIENT_FUNDS' : undefined;
}

/** The first reason that there is; undefined where nothing is wrong. */
export function declineReason(standing: Standing): DeclineReason | undefined {
  const { kind } = standing.request;
  const reason = ofCard(standing);
  if (reason) return reason;
  if (kind === 'CREDIT_AUTHORIZATION_ADVICE') return ofNews(standing);
  return isCredit(kind) ? ofCredit(standing) : ofDebit(standing);
}
