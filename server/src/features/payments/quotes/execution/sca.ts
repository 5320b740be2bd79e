// Strong customer authentication of payments: a session, and a proof for each step that is bound to
// amount and payee. A payment to a trusted account of the customer is exempt. No funds are held
// before the last proof. A payment from an account of the platform on behalf of a customer is
// authorized by that customer.
import { Type } from '@sinclair/typebox';
import { shortenedIdentifier } from '../../../../catalog/accounts/account-info.ts';
import { formatMoney } from '../../../../catalog/currencies/money-format.ts';
import { defineJob } from '../../../../kernel/contract/job.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { readInternalAccount } from '../../../balances/internal-accounts/index.ts';
import { readCustomer } from '../../../customers/records/index.ts';
import {
  readExternalAccount,
  requireExternalAccount,
} from '../../../payees/external-accounts/index.ts';
import {
  type ChallengeRow,
  findPendingChallenge,
  isRegulated,
  needsSca,
  openChallenge,
  presentChallenge,
  type ScaAction,
  type ScaDeps,
  type ScaParty,
} from '../../../sca/authentication/index.ts';
import { recordScaEvent } from '../../../sca/events/index.ts';
import { checkSession } from '../../../sca/lockout/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../../tenancy/platform/index.ts';
import { awaitAuthorization } from '../../lifecycle/index.ts';
import { type Payer, requireActiveOwner } from '../../pricing/index.ts';
import { debitedOf, type OutgoingRow, receivedOf } from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';

type Purpose = NonNullable<ChallengeRow['purpose']>;

/** Fails a payment whose authorization has expired. */
export const AUTHORIZATION_EXPIRY = defineJob(
  'quotes.expire-authorization',
  Type.Object({ quoteId: Type.String(), challengeId: Type.String() }),
);

/** The customer who must authorize the payment, or undefined if no authorization is required. */
export async function authorizerOf(ctx: Ctx, payment: OutgoingRow): Promise<ScaParty | undefined> {
  const currency = payment.sent_currency;
  // Avoids the reads for most payments.
  if (!isRegulated(currency)) return undefined;
  const [platform, customer] = await Promise.all([
    readOwnPlatform(ctx),
    requireActiveOwner(ctx, payment),
  ]);
  const isNeeded = needsSca(ctx, platform, customer, currency);
  return isNeeded ? { customer, platform } : undefined;
}

/** Throws SCA_SESSION_REQUIRED if the payer must log in first. */
export async function checkLogin(
  ctx: Ctx,
  platform: PlatformRow,
  { customer, currency }: Pick<Payer, 'customer' | 'currency'>,
): Promise<void> {
  if (needsSca(ctx, platform, customer, currency)) await checkSession(ctx, customer.id);
}

async function isTrusted(ctx: Ctx, payment: OutgoingRow): Promise<boolean> {
  const id = payment.destination_account;
  if (!isId(id, 'ExternalAccount')) return false;
  const account = await readExternalAccount(ctx, id);
  if (!account || account.trusted_at === null) return false;
  // The exemption requires that the account is still trusted at the commit.
  requireExternalAccount(ctx, account);
  return account.customer_id === payment.customer_id;
}

/** Whether the destination is a trusted account of the customer. Records the exemption. */
export async function isExempt(
  ctx: Ctx,
  { customer }: ScaParty,
  quote: Pick<QuoteRow, 'id'>,
  payment: OutgoingRow,
): Promise<boolean> {
  if (!(await isTrusted(ctx, payment))) return false;
  recordScaEvent(ctx, customer, 'EXEMPTED', { subject: quote.id });
  return true;
}

/** The steps that the customer authorizes. */
export function stepsOf(platform: PlatformRow, payment: OutgoingRow): Purpose[] {
  const isConversion = payment.sent_currency !== payment.received_currency;
  const isExternal = !isId(payment.destination_account, 'InternalAccount');
  if (!isExternal) return [isConversion ? 'CURRENCY_CONVERSION' : 'TRANSFER'];
  return isConversion && platform.sca_two_steps ? ['CURRENCY_CONVERSION', 'PAYOUT'] : ['PAYOUT'];
}

/** The data that the proof of a step is bound to. Amounts are in minor units, as text. */
const describeStep = (quote: QuoteRow, payment: OutgoingRow, step: Purpose | null): ScaAction => ({
  kind: 'PAYMENT',
  subject: quote.id,
  binding: canonical({
    quoteId: quote.id,
    step,
    source: payment.source_account,
    sendingAmount: String(payment.sent_amount),
    sendingCurrency: payment.sent_currency,
    destination: payment.destination_account,
    receivingAmount: String(payment.received_amount),
    receivingCurrency: payment.received_currency,
  }),
});

/** The data of a pending step. */
export const actionOf = (quote: QuoteRow, payment: OutgoingRow, row: ChallengeRow): ScaAction =>
  describeStep(quote, payment, row.purpose);

async function payeeText(ctx: Ctx, payment: OutgoingRow): Promise<string> {
  const address = payment.destination.umaAddress;
  // The account of a UMA address is not disclosed to the payer.
  if (typeof address === 'string') return address;
  const id = payment.destination_account;
  if (isId(id, 'ExternalAccount')) {
    const account = await readExternalAccount(ctx, id);
    return account ? shortenedIdentifier(account.info) : id;
  }
  const account = await readInternalAccount(ctx, id);
  const isOwn = account && account.customer_id === payment.customer_id;
  return isOwn ? `your ${account.currency} account` : `account …${id.slice(-6)}`;
}

/** Description of the payment in the text message with the code: `100.00 EUR to DE89…3000`. */
export async function describePayment(ctx: Ctx, payment: OutgoingRow): Promise<string> {
  const [debitedAmount, receivedAmount] = [debitedOf(payment), receivedOf(payment)];
  const amountText = formatMoney(debitedAmount);
  const conversionText = `${amountText} as ${formatMoney(receivedAmount)}`;
  const moneyText =
    debitedAmount.currency === receivedAmount.currency ? amountText : conversionText;
  return `${moneyText} to ${await payeeText(ctx, payment)}`;
}

interface Step {
  quote: QuoteRow;
  payment: OutgoingRow;
  authorizer: ScaParty;
  factor: ChallengeRow['factor'] | undefined;
  steps: readonly Purpose[];
}

/**
 * Opens a challenge for the first of the steps. The payment fails if the challenge is not completed in
 * time.
 */
export async function requestAuthorization(
  ctx: Ctx,
  deps: ScaDeps,
  { quote, payment, authorizer, factor, steps }: Step,
): Promise<OutgoingRow> {
  // Funds must arrive while the price is valid, so the challenge expires with the quote.
  const isPaidIn = payment.source.sourceType === 'REALTIME_FUNDING';
  const challenge = await openChallenge(ctx, deps, authorizer, {
    ...describeStep(quote, payment, steps[0] as Purpose),
    factor,
    field: 'scaFactor',
    description: await describePayment(ctx, payment),
    steps,
    ...(isPaidIn ? { until: quote.expires_at } : {}),
  });
  const input = { quoteId: quote.id, challengeId: challenge.id };
  ctx.later(AUTHORIZATION_EXPIRY, input, challenge.expires_at);
  return awaitAuthorization(ctx, payment);
}

export const pendingChallengeOf = (ctx: Ctx, { id }: QuoteRow): Promise<ChallengeRow | undefined> =>
  findPendingChallenge(ctx, 'PAYMENT', id);

/** The API view of the pending challenge of a quote. */
export async function challengeView(ctx: Ctx, quote: QuoteRow, payment: OutgoingRow) {
  if (payment.status !== 'PENDING_AUTHORIZATION' || payment.customer_id === null) return undefined;
  const [row, platform, customer] = await Promise.all([
    pendingChallengeOf(ctx, quote),
    readOwnPlatform(ctx),
    readCustomer(ctx, payment.customer_id),
  ]);
  if (!row || !customer || customer.deleted_at !== null) return undefined;
  return presentChallenge(ctx, { customer, platform }, row, actionOf(quote, payment, row));
}
