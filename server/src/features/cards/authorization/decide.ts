// The decision about what a network asks of a card. Everything it leans on is read, a pure function finds
// what speaks against it, and an approval sets the money aside in the change set that writes it down. What
// the commit finds otherwise, a card frozen or money spent in the same instant, makes it decide once more:
// so no crowd takes more than there is, and nothing is approved behind the commit that freezes a card.
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
import { checkAmount, openPayment } from '../issuing/open.ts';
import { type CardParts, issuerOf } from '../parts.ts';
import type { CardRow, DelegatedKeyRow } from '../store.ts';
import { declineReason, type FirstSource } from './decline.ts';
import { writeDecision } from './messages.ts';

interface First {
  source: FirstSource;
  account: InternalAccountRow;
  /** What signs for it, where it is a wallet that has one. */
  key: DelegatedKeyRow | undefined;
}

/** Only the first account of a card pays; the others wait for a version that splits. */
async function firstSource(ctx: Ctx, card: CardRow): Promise<First | undefined> {
  const [id = ''] = card.funding;
  const [account, money] = await Promise.all([
    readInternalAccount(ctx, id),
    readLedgerAccount(ctx, id),
  ]);
  if (!account || !money) return undefined;
  const needsKey = account.type === 'EMBEDDED_WALLET';
  const key = needsKey ? await activeKeyOf(ctx, card.id, id) : undefined;
  const maySign = !needsKey || key !== undefined;
  return { account, key, source: { account, maySign, spendable: spendableOf(money) } };
}

/** Where whoever was erased would have paid is written down no more. */
const traceless = (request: CardRequest, holder: CustomerRow | undefined): CardRequest =>
  !holder || (holder.deleted_at !== null && holder.data_key === null)
    ? { ...request, merchant: { descriptor: '-' } }
    : request;

/** Stages a decline: no payment and no event, only a line in the log. */
function decline(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
  { holder, reason }: { holder: CustomerRow | undefined; reason: DeclineReason },
): CardDecision {
  // An erasure in the same moment would find the line too late. Many may lean on one row at once.
  if (holder) requireCustomer(ctx, holder);
  const decision = { approved: false, reason } as const;
  writeDecision(ctx, card, traceless(request, holder), decision);
  return decision;
}

/** Stages the decline of what nobody waits for any more. */
export async function declineLate(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
): Promise<CardDecision> {
  const holder = await readCustomer(ctx, card.customer_id);
  return decline(ctx, card, request, { holder, reason: 'TOO_LATE' });
}

/**
 * Decides, stages the payment with its money set aside, and writes the decision down. A decline is a decision
 * and no fault. Nobody has decided about the message before: whoever asks has looked (`earlierDecision`).
 */
export async function decide(
  ctx: Ctx,
  parts: CardParts,
  card: CardRow,
  request: CardRequest,
): Promise<CardDecision> {
  checkAmount(request);
  const [holder, first] = await Promise.all([
    readCustomer(ctx, card.customer_id),
    firstSource(ctx, card),
  ]);
  const objection = issuerOf(ctx, parts).declineReason?.(request);
  const source = first?.source;
  const reason = declineReason({ card, request, objection, holder, source });
  if (reason) return decline(ctx, card, request, { holder, reason });
  if (!holder || !first) throw new Error(`${card.id} has no holder or no account`);
  if (request.kind === 'BALANCE_INQUIRY') {
    requireCustomer(ctx, holder);
    writeDecision(ctx, card, request, { approved: true });
    return { approved: true };
  }
  const { account, key } = first;
  const opened = await ctx.attempt(() =>
    openPayment(ctx, parts, { card, holder, account, key, request }),
  );
  if (opened instanceof Fault) {
    if (opened.code !== 'WALLET_SIGNATURE_INVALID') throw opened;
    // Its wallet's key could not sign: whoever keeps it gave no answer, or none that holds. At a till that is
    // the same, and nobody there waits until it is not.
    return decline(ctx, card, request, { holder, reason: 'NO_FUNDING_SOURCE' });
  }
  const decision = { approved: true, transactionId: opened.id } as const;
  writeDecision(ctx, card, request, decision);
  return decision;
}
