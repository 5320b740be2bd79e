// A payment from another UMA provider to a customer's UMA address. The platform is asked first, by an event
// that is sent to it once and whose answer decides; nothing moves before. Then the sender's provider is
// told and its money fetched, which lands on the customer's account here or goes on over a rail to the
// account outside that the customer chose for it.

import type { Static } from '@sinclair/typebox';
import { railsOf } from '../../../catalog/accounts/account-info.ts';
import { allowsAmount, corridors } from '../../../catalog/currencies/corridors.ts';
import { chooseRail } from '../../../catalog/rails/rails.ts';
import type { Connectors, Progress, RailPort } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  findInternalAccounts,
  isBalance,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { checkReady, requiresTermsConsent } from '../../customers/eligibility/index.ts';
import {
  type CustomerRow,
  factsOfCustomer,
  readCustomer,
  requireCustomer,
} from '../../customers/records/index.ts';
import { findExternalAccounts } from '../../payees/external-accounts/index.ts';
import { rejectBlockedProvider } from '../../payees/receivers/index.ts';
import { checkAmount, checkDirection, settingOf } from '../../tenancy/config/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { incomingPayment, presentTransaction } from '../presentation/index.ts';
import { awaitRailResult } from '../suspense/index.ts';
import {
  changeTransaction,
  type FailureReason,
  type IncomingRow,
  insertTransaction,
  transactionFeature,
} from '../transactions/index.ts';
import { ANSWER_WITHIN_MS, type Info, requestedFields, type Verdict } from './approval.ts';
import { keep, payOn, undoPayOn } from './books.ts';
import { fateAt, holdArrived } from './deposit.ts';
import {
  complete,
  completeOn,
  fail,
  failAndReturn,
  followUp,
  incomingReason,
  openDepositReturn,
} from './ends.ts';
import { ASK, COLLECT, LAPSE, PASS_ON } from './kinds.ts';

/** What is received, and from whom. */
interface UmaIncoming extends Money {
  platform: PlatformRow;
  customer: CustomerRow;
  /** UMA address of whoever pays. */
  sender: string;
  /** What the sender's side tells about the sender, by field name. */
  payerData: Info;
}

/** Throws why this customer cannot be paid so. */
function admit({ platform, customer, currency, amount }: UmaIncoming): void {
  if (platform.webhook_endpoint === null) {
    const reason =
      'Payments from UMA addresses require a webhook endpoint. Set it with ' +
      'updatePlatformConfig.';
    throw new Fault('WEBHOOK_ENDPOINT_NOT_SET', reason);
  }
  if (requiresTermsConsent(platform, customer)) {
    throw new Fault(
      'END_USER_TERMS_NOT_ACCEPTED',
      'The customer has not accepted the end-user terms.',
    );
  }
  checkReady(customer);
  if (!settingOf(platform, currency)) {
    throw new Fault('INVALID_CURRENCY', `The customer cannot receive ${currency}.`);
  }
  checkDirection(platform, currency, 'INCOMING');
  checkAmount(platform, { currency, amount });
}

/** What the platform wants to know of a sender; throws where the sender's side does not tell it. */
function aboutSender({ platform, currency, payerData }: UmaIncoming): Info | null {
  const wanted = settingOf(platform, currency)?.requiredCounterpartyFields ?? [];
  const missing = wanted
    .filter(({ name, mandatory }) => mandatory && payerData[name] === undefined)
    .map(({ name }) => name);
  if (missing.length) {
    const reason = `The platform requires sender information that is missing: ${missing.join(', ')}.`;
    throw new Fault('SENDER_NOT_ACCEPTED', reason, { requiredFields: missing });
  }
  const told = wanted.filter(({ name }) => payerData[name] !== undefined);
  if (!told.length) return null;
  return Object.fromEntries(told.map(({ name }) => [name, payerData[name]]));
}

interface Destination {
  accountId: string;
  /** Of an account outside; null inside, and to wallets. */
  rail: string | null;
}

/** The customer's account outside for such payments, where it can take this one. */
async function chosenOutside(
  ctx: Ctx,
  port: RailPort | undefined,
  { customer, currency, amount }: UmaIncoming,
): Promise<Destination | undefined> {
  const wanted = { customer_id: customer.id, default_uma: true };
  const [account] = await findExternalAccounts(ctx.db, wanted);
  if (!port || account?.status !== 'ACTIVE' || account.currency !== currency) return undefined;
  // An invoice is good for one payment of its amount, not for whatever comes.
  if ('invoice' in account.info) return undefined;
  const own = railsOf(account.info);
  const ways = corridors(currency, currency).filter(
    (each) =>
      (own.length ? each.rail !== null && own.includes(each.rail) : each.rail === null) &&
      port.carries(account.account_type, each.rail) &&
      allowsAmount(each, { currency, amount }),
  );
  if (!ways.length) return undefined;
  const rail = chooseRail(ways.flatMap((way) => way.rail ?? [])) ?? null;
  return { accountId: account.id, rail };
}

async function destinationOf(
  ctx: Ctx,
  port: RailPort | undefined,
  given: UmaIncoming,
): Promise<Destination> {
  const outside = await chosenOutside(ctx, port, given);
  if (outside) return outside;
  const { customer, currency } = given;
  const own = await findInternalAccounts(ctx.db, { customer_id: customer.id, currency });
  const open = own.find((each) => each.status === 'ACTIVE' && isBalance(each));
  if (open) return { accountId: open.id, rail: null };
  throw new Fault(
    'INVALID_CURRENCY',
    `The customer has no ACTIVE account that can receive ${currency}.`,
  );
}

/** Stages the payment and the question to the platform. Throws why it cannot be received. */
export async function receiveUmaPayment(
  ctx: Ctx,
  connectors: Connectors,
  given: UmaIncoming,
): Promise<IncomingRow> {
  rejectBlockedProvider(connectors.uma, given.sender);
  admit(given);
  const counterparty = aboutSender(given);
  const { accountId, rail } = await destinationOf(ctx, connectors.rail, given);
  const { customer, currency } = given;
  requireCustomer(ctx, customer);
  const row = insertTransaction(ctx, {
    id: ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: customer.id,
    platform_customer_id: customer.platform_customer_id,
    type: 'INCOMING',
    direction: 'CREDIT',
    status: 'PENDING',
    funds: 'NONE',
    source: { sourceType: 'UMA_ADDRESS', umaAddress: given.sender },
    destination: { destinationType: 'ACCOUNT', accountId, currency },
    source_account: given.sender,
    destination_account: accountId,
    received_amount: given.amount,
    received_currency: currency,
    counterparty,
    rail,
    requested_fields: requestedFields(currency, factsOfCustomer(ctx.vault, customer)),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  ask(ctx, row);
  return row;
}

/** The question is an event that the usual deliveries leave alone: it is put once, and answered. */
function ask(ctx: Ctx, row: IncomingRow): void {
  const data = {
    ...presentTransaction(row),
    requestedReceiverCustomerInfoFields: row.requested_fields ?? [],
  };
  const { PENDING } = incomingPayment;
  const eventId = ctx.record(PENDING, row.id, data as Static<typeof PENDING.data>);
  ctx.later(ASK, { transactionId: row.id, eventId });
}

export const isUma = (row: IncomingRow): boolean => row.source?.sourceType === 'UMA_ADDRESS';

/** Whether the platform has yet to say whether it wants this payment. */
export const isAwaitingApproval = (row: IncomingRow): boolean =>
  isUma(row) && row.status === 'PENDING';

/** The platform wants it; `info` is what it told about its customer. */
export function approveUma(ctx: Ctx, row: IncomingRow, info: Info): IncomingRow {
  if (!isAwaitingApproval(row)) return row;
  const status = transactionFeature.states.incoming.next(row.status, 'accept');
  ctx.later(COLLECT, { transactionId: row.id, receiverInfo: info });
  return changeTransaction(ctx, row, { status, funds: 'AWAITED', sent_at: ctx.now });
}

/** The platform does not want it, or did not say so in time. Nothing has moved yet. */
export const rejectUma = (ctx: Ctx, row: IncomingRow, reason: FailureReason): IncomingRow =>
  isAwaitingApproval(row) ? fail(ctx, row, reason, 'NONE') : row;

export function applyApprovalDecision(ctx: Ctx, row: IncomingRow, verdict: Verdict): void {
  if (!isAwaitingApproval(row)) return;
  switch (verdict.say) {
    case 'accept':
      approveUma(ctx, row, verdict.info);
      return;
    case 'refuse':
      rejectUma(ctx, row, verdict.reason);
      return;
    case 'wait':
      ctx.later(LAPSE, { transactionId: row.id }, ctx.now + ANSWER_WITHIN_MS);
      return;
    default:
      assertNever(verdict, "platform's answer");
  }
}

/** The money is ours: onto the customer's account, or on its way to the one outside. */
async function arrive(ctx: Ctx, row: IncomingRow): Promise<void> {
  if (row.status !== 'PROCESSING' || row.funds !== 'AWAITED') return;
  const id = row.destination_account;
  if (isId(id, 'ExternalAccount')) {
    keep(ctx, row);
    ctx.later(PASS_ON, { transactionId: row.id, ask: 'send' });
    changeTransaction(ctx, row, { funds: 'HELD', sent_at: ctx.now });
    return;
  }
  const account = await readInternalAccount(ctx, id);
  const owner = await readCustomer(ctx, row.customer_id ?? '');
  const fate = fateAt(account, owner ?? null);
  if (!account || fate === 'bounce') failAndReturn(ctx, row, 'QUOTE_EXECUTION_FAILED');
  else if (fate === 'hold') await holdArrived(ctx, row, account);
  else await completeOn(ctx, row, account);
}

/** How far the sender's provider is with a payment that the platform wants. */
export async function applyCollectionStatus(
  ctx: Ctx,
  row: IncomingRow,
  progress: Progress,
  receiverInfo: Info = {},
): Promise<void> {
  if (row.status !== 'PROCESSING' || row.funds !== 'AWAITED') return;
  switch (progress.state) {
    case 'accepted':
    case 'unknown': {
      const { checkAfterMs } = progress;
      if (checkAfterMs === undefined) return awaitRailResult(ctx, row, 'pull');
      return ctx.later(COLLECT, { transactionId: row.id, receiverInfo }, ctx.now + checkAfterMs);
    }
    case 'settled':
      return arrive(ctx, row);
    case 'returned': {
      const reason = incomingReason(progress.reason, 'QUOTE_EXECUTION_FAILED');
      return void failAndReturn(ctx, row, reason);
    }
    case 'failed':
      return void fail(ctx, row, incomingReason(progress.reason, 'PAY_REQUEST_FAILED'), 'NONE');
    case 'cancelled':
      return void fail(ctx, row, 'PAY_REQUEST_FAILED', 'NONE');
    default:
      return assertNever(progress, 'transfer progress');
  }
}

const goesOn = (row: IncomingRow): boolean =>
  isUma(row) && isId(row.destination_account, 'ExternalAccount');

/** Whether its money is here and still to reach the account outside. */
export const isUnderWay = (row: IncomingRow): boolean =>
  goesOn(row) && row.status === 'PROCESSING' && (row.funds === 'HELD' || row.funds === 'SUBMITTED');

/** How far the rail is with the way on to the account outside. */
export async function applyForwardingStatus(
  ctx: Ctx,
  row: IncomingRow,
  progress: Progress,
): Promise<void> {
  if (!goesOn(row)) return;
  switch (progress.state) {
    case 'unknown':
    case 'accepted':
    case 'settled':
      if (progress.state === 'accepted' && isUnderWay(row))
        changeTransaction(ctx, row, { funds: 'SUBMITTED' });
      if (progress.state === 'settled' && isUnderWay(row)) {
        payOn(ctx, row);
        complete(ctx, row);
      }
      return followUp(ctx, row, [PASS_ON, 'payout'], progress);
    case 'returned':
      if (row.status === 'COMPLETED' && row.funds === 'SETTLED') undoPayOn(ctx, row);
      else if (!isUnderWay(row)) return;
      return void openDepositReturn(ctx, fail(ctx, row, 'OFFRAMP_FAILED', 'HELD'));
    case 'failed':
    case 'cancelled':
      if (!isUnderWay(row)) return;
      return void openDepositReturn(ctx, fail(ctx, row, 'OFFRAMP_FAILED', 'HELD'));
    default:
      return assertNever(progress, 'transfer progress');
  }
}
