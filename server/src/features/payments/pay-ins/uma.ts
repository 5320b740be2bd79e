// A payment from another UMA provider to a customer's UMA address. The platform approves the
// payment by its response to the approval request. The funds are then collected from the sending
// provider. They are credited to the customer's internal account, or forwarded over a rail to the
// customer's default external account for UMA payments.

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
import { APPROVAL_TIMEOUT_MS, type Decision, type Info, requestedFields } from './approval.ts';
import { dispositionAt, holdArrivedFunds } from './deposit.ts';
import {
  complete,
  completeOn,
  fail,
  failAndReturn,
  followUp,
  incomingReason,
  openDepositReturn,
} from './final-steps.ts';
import { APPROVAL_EXPIRY, COLLECT, FORWARD, REQUEST_APPROVAL } from './kinds.ts';
import { postForward, postToInbound, reverseForward } from './postings.ts';

interface UmaIncoming extends Money {
  platform: PlatformRow;
  customer: CustomerRow;
  /** UMA address of the sender. */
  sender: string;
  /** Information about the sender from the sending provider, by field name. */
  payerData: Info;
}

/** Throws if the customer cannot receive this payment. */
function checkAdmission({ platform, customer, currency, amount }: UmaIncoming): void {
  if (platform.webhook_endpoint === null) {
    const reason =
      'Payments from UMA addresses require a webhook endpoint. Set it with ' +
      'updatePlatformConfig.';
    throw new Fault('WEBHOOK_ENDPOINT_NOT_SET', reason);
  }
  if (requiresTermsConsent(platform, customer)) {
    throw new Fault(
      'END_USER_TERMS_NOT_ACCEPTED',
      'The customer has not accepted the end-user terms. Record the consent with updateCustomerById.',
    );
  }
  checkReady(customer);
  if (!settingOf(platform, currency)) {
    throw new Fault('INVALID_CURRENCY', `The customer cannot receive ${currency}.`);
  }
  checkDirection(platform, currency, 'INCOMING');
  checkAmount(platform, { currency, amount });
}

/**
 * The sender information that the platform requests, or null if there is none. Throws
 * SENDER_NOT_ACCEPTED if a mandatory field is missing.
 */
function senderInformationOf({ platform, currency, payerData }: UmaIncoming): Info | null {
  const counterpartyFields = settingOf(platform, currency)?.requiredCounterpartyFields ?? [];
  const missingNames = counterpartyFields
    .filter(({ name, mandatory }) => mandatory && payerData[name] === undefined)
    .map(({ name }) => name);
  if (missingNames.length) {
    const names = missingNames.join(', ');
    const reason = `The platform requires sender information that is missing: ${names}.`;
    throw new Fault('SENDER_NOT_ACCEPTED', reason, { requiredFields: missingNames });
  }
  const presentFields = counterpartyFields.filter(({ name }) => payerData[name] !== undefined);
  if (!presentFields.length) return null;
  return Object.fromEntries(presentFields.map(({ name }) => [name, payerData[name]]));
}

interface Destination {
  accountId: string;
  /** Null for internal accounts and wallets. */
  rail: string | null;
}

/** The customer's default external account for UMA payments, if it can receive this payment. */
async function findDefaultExternalAccount(
  ctx: Ctx,
  port: RailPort | undefined,
  { customer, currency, amount }: UmaIncoming,
): Promise<Destination | undefined> {
  const filter = { customer_id: customer.id, default_uma: true };
  const [account] = await findExternalAccounts(ctx.db, filter);
  if (!port || account?.status !== 'ACTIVE' || account.currency !== currency) return undefined;
  // An invoice is valid for one payment of its amount.
  if ('invoice' in account.info) return undefined;
  const accountRails = railsOf(account.info);
  const usableCorridors = corridors(currency, currency).filter(
    (corridor) =>
      (accountRails.length
        ? corridor.rail !== null && accountRails.includes(corridor.rail)
        : corridor.rail === null) &&
      port.supportsPayout(account.account_type, corridor.rail) &&
      allowsAmount(corridor, { currency, amount }),
  );
  if (!usableCorridors.length) return undefined;
  const rail = chooseRail(usableCorridors.flatMap((corridor) => corridor.rail ?? [])) ?? null;
  return { accountId: account.id, rail };
}

async function destinationOf(
  ctx: Ctx,
  port: RailPort | undefined,
  input: UmaIncoming,
): Promise<Destination> {
  const externalDestination = await findDefaultExternalAccount(ctx, port, input);
  if (externalDestination) return externalDestination;
  const { customer, currency } = input;
  const customerAccounts = await findInternalAccounts(ctx.db, {
    customer_id: customer.id,
    currency,
  });
  const openAccount = customerAccounts.find((each) => each.status === 'ACTIVE' && isBalance(each));
  if (openAccount) return { accountId: openAccount.id, rail: null };
  throw new Fault(
    'INVALID_CURRENCY',
    `The customer has no ACTIVE account that can receive ${currency}.`,
  );
}

/** Stages the payment and the approval request. Throws if the payment cannot be received. */
export async function receiveUmaPayment(
  ctx: Ctx,
  connectors: Connectors,
  input: UmaIncoming,
): Promise<IncomingRow> {
  rejectBlockedProvider(connectors.uma, input.sender);
  checkAdmission(input);
  const counterparty = senderInformationOf(input);
  const { accountId, rail } = await destinationOf(ctx, connectors.rail, input);
  const { customer, currency } = input;
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
    source: { sourceType: 'UMA_ADDRESS', umaAddress: input.sender },
    destination: { destinationType: 'ACCOUNT', accountId, currency },
    source_account: input.sender,
    destination_account: accountId,
    received_amount: input.amount,
    received_currency: currency,
    counterparty,
    rail,
    requested_fields: requestedFields(currency, factsOfCustomer(ctx.vault, customer)),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  requestApproval(ctx, row);
  return row;
}

/**
 * Stages the approval request, an event outside the webhook queue. A job sends the event and reads
 * the response.
 */
function requestApproval(ctx: Ctx, row: IncomingRow): void {
  const data = {
    ...presentTransaction(row),
    requestedReceiverCustomerInfoFields: row.requested_fields ?? [],
  };
  const { PENDING } = incomingPayment;
  const eventId = ctx.record(PENDING, row.id, data as Static<typeof PENDING.data>);
  ctx.later(REQUEST_APPROVAL, { transactionId: row.id, eventId });
}

export const isUma = (row: IncomingRow): boolean => row.source?.sourceType === 'UMA_ADDRESS';

/** Whether the decision of the platform is pending. */
export const isAwaitingApproval = (row: IncomingRow): boolean =>
  isUma(row) && row.status === 'PENDING';

/** Applies the platform's approval. `info` is the platform's information about its customer. */
export function approveUma(ctx: Ctx, row: IncomingRow, info: Info): IncomingRow {
  if (!isAwaitingApproval(row)) return row;
  const status = transactionFeature.states.incoming.next(row.status, 'accept');
  ctx.later(COLLECT, { transactionId: row.id, receiverInfo: info });
  return changeTransaction(ctx, row, { status, funds: 'AWAITED', sent_at: ctx.now });
}

/** Applies a rejection or the expiry of the approval. No funds were collected. */
export const rejectUma = (ctx: Ctx, row: IncomingRow, reason: FailureReason): IncomingRow =>
  isAwaitingApproval(row) ? fail(ctx, row, reason, 'NONE') : row;

export function applyApprovalDecision(ctx: Ctx, row: IncomingRow, decision: Decision): void {
  if (!isAwaitingApproval(row)) return;
  switch (decision.outcome) {
    case 'approve':
      approveUma(ctx, row, decision.info);
      return;
    case 'reject':
      rejectUma(ctx, row, decision.reason);
      return;
    case 'defer':
      ctx.later(APPROVAL_EXPIRY, { transactionId: row.id }, ctx.now + APPROVAL_TIMEOUT_MS);
      return;
    default:
      assertNever(decision, 'approval decision');
  }
}

/** Forwards collected funds to an external account, or credits, holds or returns them. */
async function creditOrForward(ctx: Ctx, row: IncomingRow): Promise<void> {
  if (row.status !== 'PROCESSING' || row.funds !== 'AWAITED') return;
  const id = row.destination_account;
  if (isId(id, 'ExternalAccount')) {
    postToInbound(ctx, row);
    ctx.later(FORWARD, { transactionId: row.id, request: 'send' });
    changeTransaction(ctx, row, { funds: 'HELD', sent_at: ctx.now });
    return;
  }
  const account = await readInternalAccount(ctx, id);
  const owner = await readCustomer(ctx, row.customer_id ?? '');
  const disposition = dispositionAt(account, owner ?? null);
  if (!account || disposition === 'reject') failAndReturn(ctx, row, 'QUOTE_EXECUTION_FAILED');
  else if (disposition === 'hold') await holdArrivedFunds(ctx, row, account);
  else await completeOn(ctx, row, account);
}

/** Applies the sending provider's status of an approved payment. */
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
      if (checkAfterMs === undefined) return awaitRailResult(ctx, row, 'debit');
      return ctx.later(COLLECT, { transactionId: row.id, receiverInfo }, ctx.now + checkAfterMs);
    }
    case 'settled':
      return creditOrForward(ctx, row);
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

const isForwarded = (row: IncomingRow): boolean =>
  isUma(row) && isId(row.destination_account, 'ExternalAccount');

/** Whether the funds are collected and have not reached the external account yet. */
export const isForwarding = (row: IncomingRow): boolean =>
  isForwarded(row) &&
  row.status === 'PROCESSING' &&
  (row.funds === 'HELD' || row.funds === 'SUBMITTED');

/** Applies a rail's status of the transfer to the external account. */
export async function applyForwardingStatus(
  ctx: Ctx,
  row: IncomingRow,
  progress: Progress,
): Promise<void> {
  if (!isForwarded(row)) return;
  switch (progress.state) {
    case 'unknown':
    case 'accepted':
    case 'settled':
      if (progress.state === 'accepted' && isForwarding(row))
        changeTransaction(ctx, row, { funds: 'SUBMITTED' });
      if (progress.state === 'settled' && isForwarding(row)) {
        postForward(ctx, row);
        complete(ctx, row);
      }
      return followUp(ctx, row, [FORWARD, 'payout'], progress);
    case 'returned':
      if (row.status === 'COMPLETED' && row.funds === 'SETTLED') reverseForward(ctx, row);
      else if (!isForwarding(row)) return;
      return void openDepositReturn(ctx, fail(ctx, row, 'OFFRAMP_FAILED', 'HELD'));
    case 'failed':
    case 'cancelled':
      if (!isForwarding(row)) return;
      return void openDepositReturn(ctx, fail(ctx, row, 'OFFRAMP_FAILED', 'HELD'));
    default:
      return assertNever(progress, 'transfer progress');
  }
}
