// What a payment needs of the customer it is made for: in its region, for money that is regulated there, a
// login that counts and a proof for each step, bound to this amount and this payee. Nothing is held before
// the last proof. Who pays from an account of the platform's on a customer's behalf pays as that customer.
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
  type About,
  type ChallengeRow,
  isRegulated,
  needsSca,
  openChallenge,
  pendingChallenge,
  presentChallenge,
  type ScaParts,
  type Who,
} from '../../../sca/authentication/index.ts';
import { noteScaEvent } from '../../../sca/events/index.ts';
import { checkSession } from '../../../sca/lockout/index.ts';
import { ownPlatform, type PlatformRow } from '../../../tenancy/platform/index.ts';
import { awaitAuthorization } from '../../lifecycle/index.ts';
import { activeOwner, type Payer } from '../../pricing/index.ts';
import { debitedOf, type OutgoingRow, receivedOf } from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';

type Purpose = NonNullable<ChallengeRow['purpose']>;

/** The job that ends a payment whose proof did not come. */
export const LAPSE = defineJob(
  'quotes.lapse',
  Type.Object({ quoteId: Type.String(), challengeId: Type.String() }),
);

/** Whose word the payment waits for; undefined where it needs nobody's. */
export async function authorizerOf(ctx: Ctx, payment: OutgoingRow): Promise<Who | undefined> {
  const currency = payment.sent_currency;
  // Most payments need nobody's: they are spared the reads.
  if (!isRegulated(currency)) return undefined;
  const [platform, customer] = await Promise.all([ownPlatform(ctx), activeOwner(ctx, payment)]);
  const needed = needsSca(ctx, platform, customer, currency);
  return needed ? { customer, platform } : undefined;
}

/** Throws SCA_SESSION_REQUIRED where whoever pays has to log in first. */
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
  // That it is trusted is what the decision leans on.
  requireExternalAccount(ctx, account);
  return account.customer_id === payment.customer_id;
}

/** Whether the customer has said that payments to this account need no proof each; written down then. */
export async function isExempt(
  ctx: Ctx,
  { customer }: Who,
  quote: Pick<QuoteRow, 'id'>,
  payment: OutgoingRow,
): Promise<boolean> {
  if (!(await isTrusted(ctx, payment))) return false;
  noteScaEvent(ctx, customer, 'EXEMPTED', { subject: quote.id });
  return true;
}

/** What the customer authorises, step by step. */
export function stepsOf(platform: PlatformRow, payment: OutgoingRow): Purpose[] {
  const converts = payment.sent_currency !== payment.received_currency;
  const leaves = !isId(payment.destination_account, 'InternalAccount');
  if (!leaves) return [converts ? 'CURRENCY_CONVERSION' : 'TRANSFER'];
  return converts && platform.sca_two_steps ? ['CURRENCY_CONVERSION', 'PAYOUT'] : ['PAYOUT'];
}

/** What a step's proof is good for, and nothing else: amounts in smallest units, as text. */
const aboutStep = (quote: QuoteRow, payment: OutgoingRow, step: Purpose | null): About => ({
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

/** The same of a step that waits. */
export const aboutOf = (quote: QuoteRow, payment: OutgoingRow, row: ChallengeRow): About =>
  aboutStep(quote, payment, row.purpose);

async function payeeText(ctx: Ctx, payment: OutgoingRow): Promise<string> {
  const address = payment.destination.umaAddress;
  // Where somebody else has it go is not the payer's to know.
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

/** The payment in the words that go with a code: `100.00 EUR to DE89…3000`. */
export async function wordsOf(ctx: Ctx, payment: OutgoingRow): Promise<string> {
  const [debited, received] = [debitedOf(payment), receivedOf(payment)];
  const sent = formatMoney(debited);
  const converted = `${sent} as ${formatMoney(received)}`;
  const money = debited.currency === received.currency ? sent : converted;
  return `${money} to ${await payeeText(ctx, payment)}`;
}

interface Step {
  quote: QuoteRow;
  payment: OutgoingRow;
  who: Who;
  factor: ChallengeRow['factor'] | undefined;
  steps: readonly Purpose[];
}

/** Asks for the first of the steps; the payment waits for it, and fails when it is not taken in time. */
export async function askFor(
  ctx: Ctx,
  parts: ScaParts,
  { quote, payment, who, factor, steps }: Step,
): Promise<OutgoingRow> {
  // Whoever pays in must find the price as it was told, so their time ends with the quote's.
  const isPaidIn = payment.source.sourceType === 'REALTIME_FUNDING';
  const challenge = await openChallenge(ctx, parts, who, {
    ...aboutStep(quote, payment, steps[0] as Purpose),
    factor,
    field: 'scaFactor',
    words: await wordsOf(ctx, payment),
    steps,
    ...(isPaidIn ? { until: quote.expires_at } : {}),
  });
  const named = { quoteId: quote.id, challengeId: challenge.id };
  ctx.later(LAPSE, named, challenge.expires_at);
  return awaitAuthorization(ctx, payment);
}

/** The challenge that a payment waits for. */
export const waitingFor = (ctx: Ctx, { id }: QuoteRow): Promise<ChallengeRow | undefined> =>
  pendingChallenge(ctx, 'PAYMENT', id);

/** The challenge of a waiting payment as a quote shows it. */
export async function challengeView(ctx: Ctx, quote: QuoteRow, payment: OutgoingRow) {
  if (payment.status !== 'PENDING_AUTHORIZATION' || payment.customer_id === null) return undefined;
  const [row, platform, customer] = await Promise.all([
    waitingFor(ctx, quote),
    ownPlatform(ctx),
    readCustomer(ctx, payment.customer_id),
  ]);
  if (!row || !customer || customer.deleted_at !== null) return undefined;
  return presentChallenge(ctx, { customer, platform }, row, aboutOf(quote, payment, row));
}
