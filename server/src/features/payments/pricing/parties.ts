// Reads payer and payee of a payment, and checks that they belong to the caller and are usable. Quotes and
// same-currency transfers use the same checks. The property `kind` determines all differences between
// parties.

import { debitRailOf, railsOf } from '../../../catalog/accounts/account-info.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import { type RealtimeFunding, realtimeFundingOf } from '../../../catalog/rails/realtime.ts';
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

/** `customer` is the customer on whose behalf the payment is made, or null for the platform. */
export type Payer = { currency: string; customer: CustomerRow | null } & (
  | { kind: 'internal'; account: InternalAccountRow; wallet?: Wallet | undefined }
  /** A rail debits the account. */
  | { kind: 'debit'; account: ExternalAccountRow }
  /** The funds are paid in for this payment. */
  | { kind: 'realtime'; network: string | undefined; funding: RealtimeFunding }
);

export type Payee = { currency: string } & (
  | {
      kind: 'internal';
      account: InternalAccountRow;
      /** Null for an account of the platform. */
      owner: CustomerRow | null;
      /** Set if the payer named a UMA address. */
      umaAddress?: string;
    }
  | {
      kind: 'external';
      account: ExternalAccountRow;
      /** Rails that can be used. Empty for wallets. */
      rails: readonly PaymentRail[];
      /** AUTO: the service selects the rail. Null for wallets. */
      railMode: 'AUTO' | 'MANUAL' | null;
    }
  /** A receiver at another UMA provider. */
  | { kind: 'uma'; umaAddress: string; discovery: PayeeDiscoveryRow; offer: Offer }
);

function checkActive(account: InternalAccountRow, field: string): void {
  if (account.status !== 'ACTIVE')
    throw invalidField(field, `must be ACTIVE, but the account is ${account.status}`);
}

/** Throws if the customer has not accepted the terms or is not approved. */
function checkCanPay(customer: CustomerRow, platform: PlatformRow): void {
  if (requiresTermsConsent(platform, customer)) {
    throw new Fault(
      'END_USER_TERMS_NOT_ACCEPTED',
      'The customer has not accepted the end-user terms. Record the consent with updateCustomerById.',
    );
  }
  checkReady(customer);
}

/** Owner of the resource, or null for a platform resource. Throws CUSTOMER_DELETED for a deleted customer. */
export const requireActiveOwner = async (
  ctx: Ctx,
  { customer_id: id }: { customer_id: string | null },
): Promise<CustomerRow | null> =>
  id === null ? null : customerOf(ctx, id, { rejectDeleted: true });

/**
 * The customer on whose behalf the payment is made: the owner of the account, or the requested
 * customer. Null for the platform.
 */
async function requirePayingCustomer(
  ctx: Ctx,
  platform: PlatformRow,
  owner: string | null,
  requestedCustomerId: string | undefined,
): Promise<CustomerRow | null> {
  if (owner !== null && requestedCustomerId !== undefined && requestedCustomerId !== owner) {
    throw invalidField('source.customerId', 'must be the owner of the source account');
  }
  const customer = await requireActiveOwner(ctx, {
    customer_id: owner ?? requestedCustomerId ?? null,
  });
  if (customer) checkCanPay(customer, platform);
  return customer;
}

/**
 * Throws BANK_ACCOUNT_VALIDATION_PENDING for a PENDING account, and INVALID_BANK_ACCOUNT for an
 * INACTIVE account. Account types that do not support debits are not checked.
 */
export function checkValidated({
  status,
  info,
}: Pick<ExternalAccountRow, 'status' | 'info'>): void {
  if (!debitRailOf(info)) return;
  if (status === 'PENDING') {
    throw new Fault(
      'BANK_ACCOUNT_VALIDATION_PENDING',
      'The bank account is being validated. Retry when it is ACTIVE.',
    );
  }
  if (status === 'INACTIVE') {
    throw new Fault('INVALID_BANK_ACCOUNT', 'The bank account is INACTIVE. Use another account.');
  }
}

/** Returns the rail that debits an external account. Throws if the account cannot be debited. */
export function checkDebitable(
  account: Pick<ExternalAccountRow, 'status' | 'account_type' | 'info'>,
  port: RailPort | undefined,
  field = 'source.accountId',
): PaymentRail {
  const rail = debitRailOf(account.info);
  if (!rail) throw invalidField(field, 'must be an account type that supports debits');
  checkValidated(account);
  if (account.status !== 'ACTIVE')
    throw invalidField(field, `must be ACTIVE, but the account is ${account.status}`);
  if (!port?.supportsDebit?.(account.account_type, rail)) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      'No connected rail can debit this account. Use another account.',
    );
  }
  return rail;
}

/**
 * The wallet of a wallet account, or undefined for other accounts and closed accounts. Throws
 * WALLET_NOT_PROVISIONED before the wallet is created.
 */
async function findPayingWallet(
  ctx: Ctx,
  account: InternalAccountRow,
): Promise<Wallet | undefined> {
  if (account.type !== 'EMBEDDED_WALLET' || account.status === 'CLOSED') return undefined;
  // A deleted customer has no wallet. The error is the same as for other accounts.
  await requireActiveOwner(ctx, account);
  return walletOf(ctx, account.id, 'source.accountId');
}

/** The source account, internal or external, and its customer. */
export async function payerOf(
  ctx: Ctx,
  platform: PlatformRow,
  source: { accountId: string; customerId?: string },
  port: RailPort | undefined,
): Promise<Payer> {
  const { accountId, customerId } = source;
  if (isId(accountId, 'ExternalAccount')) {
    const account = await externalAccountOf(ctx, accountId);
    const customer = await requirePayingCustomer(ctx, platform, account.customer_id, customerId);
    checkDebitable(account, port);
    return { kind: 'debit', account, customer, currency: account.currency };
  }
  const account = await internalAccountOf(ctx, accountId);
  const wallet = await findPayingWallet(ctx, account);
  checkActive(account, 'source.accountId');
  const customer = await requirePayingCustomer(ctx, platform, account.customer_id, customerId);
  return { kind: 'internal', account, wallet, customer, currency: account.currency };
}

/** The payer of a REALTIME_FUNDING source. */
export async function requireRealtimePayer(
  ctx: Ctx,
  platform: PlatformRow,
  source: { currency: string; customerId?: string; cryptoNetwork?: string },
): Promise<Payer> {
  const { currency, customerId, cryptoNetwork: network } = source;
  if (!platform.currencies.some((each) => each.currencyCode === currency)) {
    throw new Fault(
      'INVALID_CURRENCY',
      `The platform has not enabled ${currency}. Use an enabled currency.`,
    );
  }
  const funding = realtimeFundingOf(currency, network);
  if (!funding)
    throw new Fault(
      'INVALID_CURRENCY',
      `${currency} does not support REALTIME_FUNDING. Use another currency.`,
    );
  if (funding.isCrypto && (network === undefined || funding.payInTypes.length === 0)) {
    const choice = `must be one of ${funding.networks.join(', ')} for ${currency}`;
    throw invalidField('source.cryptoNetwork', choice);
  }
  const customer = await requirePayingCustomer(ctx, platform, customerId ?? null, customerId);
  return {
    kind: 'realtime',
    currency,
    customer,
    network: funding.isCrypto ? network : undefined,
    funding,
  };
}

/** The rails for a payment to the account: the requested rail, or all rails that reach the account. */
function railsTo(
  account: ExternalAccountRow,
  requestedRail: string | undefined,
  port: RailPort,
): Pick<Payee & { kind: 'external' }, 'rails' | 'railMode'> {
  const accountRails = railsOf(account.info);
  if (requestedRail !== undefined && !accountRails.some((each) => each === requestedRail)) {
    throw invalidField(
      'destination.paymentRail',
      accountRails.length
        ? `must be one of ${accountRails.join(', ')}`
        : 'does not apply to this account',
    );
  }
  const candidates =
    requestedRail === undefined
      ? accountRails
      : accountRails.filter((each) => each === requestedRail);
  const rails = candidates.filter((rail) => port.supportsPayout(account.account_type, rail));
  if (accountRails.length ? rails.length === 0 : !port.supportsPayout(account.account_type, null)) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      'No connected rail reaches this account. Use another account.',
    );
  }
  if (accountRails.length === 0) return { rails, railMode: null };
  return { rails, railMode: requestedRail === undefined ? 'AUTO' : 'MANUAL' };
}

/** The receiving account, internal or external, and the rails that reach it. */
export async function payeeOf(
  ctx: Ctx,
  destination: { accountId: string; paymentRail?: string },
  port: RailPort | undefined,
): Promise<Payee> {
  if (!isId(destination.accountId, 'ExternalAccount')) {
    const account = await internalAccountOf(ctx, destination.accountId);
    checkActive(account, 'destination.accountId');
    const owner = await requireActiveOwner(ctx, account);
    return { kind: 'internal', account, owner, currency: account.currency };
  }
  const account = await externalAccountOf(ctx, destination.accountId);
  await requireActiveOwner(ctx, account);
  if (!port) throw new Fault('NOT_IMPLEMENTED', 'No rail is connected for payouts.');
  const { currency } = account;
  return {
    kind: 'external',
    account,
    currency,
    ...railsTo(account, destination.paymentRail, port),
  };
}
