// Who pays and who receives: the two ends of a payment, found, checked to belong to the caller and to be
// usable. Both quotes and same-currency transfers start here. Each end says in one word what kind it is,
// and everything that differs between kinds is decided by that word.

import { pullRailOf, railsOf } from '../../../catalog/accounts/account-info.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import { type RealtimeWays, realtimeWays } from '../../../catalog/rails/realtime.ts';
import type { RailPort } from '../../../connectors/ports/index.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  internalAccountOf,
} from '../../balances/internal-accounts/index.ts';
import { checkReady, requiresTermsConsent } from '../../customers/eligibility/index.ts';
import { type CustomerRow, customerOf } from '../../customers/records/index.ts';
import {
  type ExternalAccountRow,
  externalAccountOf,
} from '../../payees/external-accounts/index.ts';
import type { Offer, PayeeDiscoveryRow } from '../../payees/receivers/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { type Wallet, walletOf } from '../../wallets/index.ts';

/** Where the money comes from. `customer` is on whose behalf; null for the platform's own money. */
export type Payer = { currency: string; customer: CustomerRow | null } & (
  | { kind: 'internal'; account: InternalAccountRow; wallet?: Wallet | undefined }
  /** A rail takes it from there. */
  | { kind: 'pull'; account: ExternalAccountRow }
  /** Somebody pays it in for this payment. */
  | { kind: 'realtime'; network: string | undefined; ways: RealtimeWays }
);

export type Payee = { currency: string } & (
  | {
      kind: 'internal';
      account: InternalAccountRow;
      /** Null when the platform receives for itself. */
      owner: CustomerRow | null;
      /** The address the payer named, when it was one. */
      umaAddress?: string;
    }
  | {
      kind: 'external';
      account: ExternalAccountRow;
      /** Those of which one will carry it; none for wallets. */
      rails: readonly PaymentRail[];
      /** Whether the service chooses among them; null for wallets. */
      railMode: 'AUTO' | 'MANUAL' | null;
    }
  /** Somebody at another UMA provider. */
  | { kind: 'uma'; umaAddress: string; lookup: PayeeDiscoveryRow; offer: Offer }
);

function usable(account: InternalAccountRow, field: string): void {
  if (account.status !== 'ACTIVE')
    throw invalidField(field, `must be ACTIVE: the account is ${account.status}`);
}

/** Throws 403 for a customer who may not pay: terms not accepted, or identity not approved. */
function mayPay(customer: CustomerRow, platform: PlatformRow): void {
  if (requiresTermsConsent(platform, customer)) {
    throw new Fault(
      'END_USER_TERMS_NOT_ACCEPTED',
      'The customer has not accepted the end-user terms.',
    );
  }
  checkReady(customer);
}

/** The customer that something belongs to, null for the platform itself; 410 when that one is deleted. */
export const activeOwner = async (
  ctx: Ctx,
  { customer_id: id }: { customer_id: string | null },
): Promise<CustomerRow | null> => (id === null ? null : customerOf(ctx, id, { alive: true }));

/** The customer a payment is made for: the account's owner, or whoever is named for one that has none. */
async function payingCustomer(
  ctx: Ctx,
  platform: PlatformRow,
  owner: string | null,
  named: string | undefined,
): Promise<CustomerRow | null> {
  if (owner !== null && named !== undefined && named !== owner) {
    throw invalidField('source.customerId', 'must be the owner of the source account');
  }
  const customer = await activeOwner(ctx, { customer_id: owner ?? named ?? null });
  if (customer) mayPay(customer, platform);
  return customer;
}

/**
 * Throws BANK_ACCOUNT_VALIDATION_PENDING while a bank account that micro-entries validate is being validated,
 * INVALID_BANK_ACCOUNT once that has failed. Only accounts that money can be pulled from are validated so.
 */
export function checkValidated({
  status,
  info,
}: Pick<ExternalAccountRow, 'status' | 'info'>): void {
  if (!pullRailOf(info)) return;
  if (status === 'PENDING') {
    throw new Fault(
      'BANK_ACCOUNT_VALIDATION_PENDING',
      'The bank account is being validated. Retry when it is ACTIVE.',
    );
  }
  if (status === 'INACTIVE') {
    throw new Fault('INVALID_BANK_ACCOUNT', 'The bank account failed validation.');
  }
}

/** Throws why money cannot be taken from an external account now. */
export function checkPullable(
  account: Pick<ExternalAccountRow, 'status' | 'account_type' | 'info'>,
  port: RailPort | undefined,
  field = 'source.accountId',
): PaymentRail {
  const rail = pullRailOf(account.info);
  if (!rail) throw invalidField(field, 'must be an account type that supports debits');
  checkValidated(account);
  if (account.status !== 'ACTIVE')
    throw invalidField(field, `must be ACTIVE: the account is ${account.status}`);
  if (!port?.pulls?.(account.account_type, rail)) {
    throw new Fault('NOT_IMPLEMENTED', 'No connected rail can debit this account.');
  }
  return rail;
}

/** The wallet behind an account that is one; WALLET_NOT_PROVISIONED while it is about to be made. */
async function payingWallet(ctx: Ctx, account: InternalAccountRow): Promise<Wallet | undefined> {
  if (account.type !== 'EMBEDDED_WALLET' || account.status === 'CLOSED') return undefined;
  // Of a deleted customer it is told like any other account: there is no wallet then.
  await activeOwner(ctx, account);
  return walletOf(ctx, account.id, 'source.accountId');
}

/** The account that pays, inside or outside, and the customer it pays for. */
export async function payerOf(
  ctx: Ctx,
  platform: PlatformRow,
  source: { accountId: string; customerId?: string },
  port: RailPort | undefined,
): Promise<Payer> {
  const { accountId, customerId } = source;
  if (isId(accountId, 'ExternalAccount')) {
    const account = await externalAccountOf(ctx, accountId);
    const customer = await payingCustomer(ctx, platform, account.customer_id, customerId);
    checkPullable(account, port);
    return { kind: 'pull', account, customer, currency: account.currency };
  }
  const account = await internalAccountOf(ctx, accountId);
  const wallet = await payingWallet(ctx, account);
  usable(account, 'source.accountId');
  const customer = await payingCustomer(ctx, platform, account.customer_id, customerId);
  return { kind: 'internal', account, wallet, customer, currency: account.currency };
}

/** Whoever will pay money in for a payment. */
export async function realtimePayer(
  ctx: Ctx,
  platform: PlatformRow,
  source: { currency: string; customerId?: string; cryptoNetwork?: string },
): Promise<Payer> {
  const { currency, customerId, cryptoNetwork: network } = source;
  if (!platform.currencies.some((each) => each.currencyCode === currency)) {
    throw new Fault('INVALID_CURRENCY', `The platform does not support ${currency}.`);
  }
  const ways = realtimeWays(currency, network);
  if (!ways) throw new Fault('INVALID_CURRENCY', `${currency} does not support REALTIME_FUNDING.`);
  if (ways.isCrypto && (network === undefined || ways.forms.length === 0)) {
    const choice = `must be one of ${ways.networks.join(', ')} for ${currency}`;
    throw invalidField('source.cryptoNetwork', choice);
  }
  const customer = await payingCustomer(ctx, platform, customerId ?? null, customerId);
  return {
    kind: 'realtime',
    currency,
    customer,
    network: ways.isCrypto ? network : undefined,
    ways,
  };
}

/** The rails that may carry a payment to the account: the one asked for, or every one that reaches it. */
function railsTo(
  account: ExternalAccountRow,
  wanted: string | undefined,
  port: RailPort,
): Pick<Payee & { kind: 'external' }, 'rails' | 'railMode'> {
  const own = railsOf(account.info);
  if (wanted !== undefined && !own.some((each) => each === wanted)) {
    throw invalidField(
      'destination.paymentRail',
      own.length ? `must be one of ${own.join(', ')}` : 'does not apply to this account',
    );
  }
  const asked = wanted === undefined ? own : own.filter((each) => each === wanted);
  const rails = asked.filter((rail) => port.carries(account.account_type, rail));
  if (own.length ? rails.length === 0 : !port.carries(account.account_type, null)) {
    throw new Fault('NOT_IMPLEMENTED', 'No connected rail reaches this account.');
  }
  if (own.length === 0) return { rails, railMode: null };
  return { rails, railMode: wanted === undefined ? 'AUTO' : 'MANUAL' };
}

/** The receiving account, internal or external, and the rails that reach it. */
export async function payeeOf(
  ctx: Ctx,
  destination: { accountId: string; paymentRail?: string },
  port: RailPort | undefined,
): Promise<Payee> {
  if (!isId(destination.accountId, 'ExternalAccount')) {
    const account = await internalAccountOf(ctx, destination.accountId);
    usable(account, 'destination.accountId');
    const owner = await activeOwner(ctx, account);
    return { kind: 'internal', account, owner, currency: account.currency };
  }
  const account = await externalAccountOf(ctx, destination.accountId);
  await activeOwner(ctx, account);
  if (!port) throw new Fault('NOT_IMPLEMENTED', 'No rail is connected for payouts.');
  const { currency } = account;
  const reach = railsTo(account, destination.paymentRail, port);
  return { kind: 'external', account, currency, ...reach };
}
