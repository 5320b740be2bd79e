// Admission of a payment and choice of its rail. The checks include the platform's settings for both
// currencies, corridor limits, the required purpose, and the limit for wallets without a proof of
// ownership. The same checks apply to quotes and same-currency transfers.
import { isSelfCustody } from '../../../catalog/accounts/account-info.ts';
import { allowsAmount, type Corridor, corridors } from '../../../catalog/currencies/corridors.ts';
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { requiresPurpose } from '../../../catalog/rails/purposes.ts';
import { chooseRail, type PaymentRail } from '../../../catalog/rails/rails.ts';
import type { RatePort } from '../../../connectors/ports/index.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { convert, isLess, type Money, type Rate } from '../../../kernel/money.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { checkPaymentSize } from '../../balances/velocity-limits/index.ts';
import { type CustomerRow, personalOf } from '../../customers/records/index.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';
import { checkOffer } from '../../payees/receivers/index.ts';
import { checkAmount, checkDirection } from '../../tenancy/config/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { checkValidated, type Payee, type Payer } from './parties.ts';
import type { Price } from './price.ts';

// Receiving countries require information about a paying business. The information is checked
// before funds are debited.

/** Currencies whose banks require the registration number of a paying business. */
const REGISTRATION_REQUIRED: ReadonlySet<string> = new Set(
  'GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED'.split(' '),
);

/** Throws MISSING_MANDATORY_USER_INFO with all fields that the business must add to its record. */
function checkSender(vault: Vault, customer: CustomerRow, to: string): void {
  if (customer.type !== 'BUSINESS') return;
  const business = personalOf(vault, customer).details.businessInfo;
  const missingFields = [
    ...(business?.businessType ? [] : ['businessType']),
    ...(REGISTRATION_REQUIRED.has(to) && !business?.registrationNumber
      ? ['registrationNumber']
      : []),
  ];
  if (missingFields.length === 0) return;
  const errors = missingFields.map((name) => ({
    field: `businessInfo.${name}`,
    message: `is required for a business that pays in ${to}`,
  }));
  throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
}

/** `rail` is null for payments to internal accounts and wallets. */
export interface Route {
  rail: PaymentRail | null;
  railMode: 'AUTO' | 'MANUAL' | null;
}

/** Limit of Regulation (EU) 2023/1113 for one transfer to a wallet without a proof of ownership. */
const UNPROVEN_WALLET_LIMIT: Money = { currency: 'EUR', amount: 1_000_00n };
const ONE_TO_ONE: Rate = { num: 1n, den: 1n };
const UNVERIFIED_STATUSES: readonly string[] = ['PENDING_OWNERSHIP_VERIFICATION', 'UNVERIFIED'];

/**
 * Whether this amount requires a proof of ownership of a self-custody destination wallet. The
 * amount is converted at the current rate. Without a rate a proof is required.
 */
export async function needsProof(
  { account }: Payee & { kind: 'external' },
  receiving: Money,
  rates: RatePort | undefined,
): Promise<boolean> {
  if (!isSelfCustody(account.info)) return false;
  const { currency: from } = receiving;
  const { currency: to } = UNPROVEN_WALLET_LIMIT;
  const midRate = from === to ? { rate: ONE_TO_ONE } : await rates?.rate(from, to);
  if (!midRate) return true;
  return isLess(UNPROVEN_WALLET_LIMIT, convert(receiving, { ...midRate.rate, from, to }, 'ceil'));
}

/**
 * Throws the errors of `checkValidated`, INVALID_RECEIVER for any other account that cannot receive
 * payments, and EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED if a proof of ownership is needed.
 */
export function checkReceiver(
  account: Pick<ExternalAccountRow, 'status' | 'info'>,
  proofNeeded: boolean,
): void {
  const { status } = account;
  if (status === 'ACTIVE') return;
  checkValidated(account);
  if (!UNVERIFIED_STATUSES.includes(status)) {
    throw new Fault('INVALID_RECEIVER', `The destination account is ${status}. It must be ACTIVE.`);
  }
  if (!proofNeeded) return;
  throw new Fault(
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'Ownership of the destination wallet must be verified before this amount can be sent.',
  );
}

function corridorFault(candidates: readonly Corridor[], { currency, amount }: Money): Fault {
  if (candidates.length === 0) {
    return new Fault(
      'NOT_IMPLEMENTED',
      `Payments from ${currency} to this account are not supported.`,
    );
  }
  const minimums = candidates.map((corridor) => Number(corridor.minSending));
  const maximums = candidates.map((corridor) => Number(corridor.maxSending));
  const details = { min: Math.min(...minimums), max: Math.max(...maximums) };
  const textOf = (units: number) => formatMoney({ currency, amount: BigInt(units) });
  return amount < BigInt(details.min)
    ? new Fault(
        'AMOUNT_OUT_OF_RANGE',
        `The amount is below the minimum of ${textOf(details.min)} for this payment.`,
        details,
      )
    : new Fault(
        'TRANSACTION_SIZE_LIMIT_EXCEEDED',
        `The amount exceeds the maximum of ${textOf(details.max)} for one payment.`,
        details,
      );
}

/** The rail for this amount and payee. Throws if no corridor allows it. */
function routeOf(sending: Money, payee: Payee): Route {
  if (payee.kind !== 'external') return { rail: null, railMode: null };
  const { rails, railMode } = payee;
  const candidates = corridors(sending.currency, payee.currency).filter(({ rail }) =>
    rails.length ? rail !== null && rails.includes(rail) : rail === null,
  );
  const allowedCorridors = candidates.filter((corridor) => allowsAmount(corridor, sending));
  if (allowedCorridors.length === 0) throw corridorFault(candidates, sending);
  return {
    rail: chooseRail(allowedCorridors.flatMap((corridor) => corridor.rail ?? [])) ?? null,
    railMode,
  };
}

interface Admission {
  payer: Payer;
  payee: Payee;
  purpose: string | undefined;
  /** Whether a proof of ownership of the destination wallet is required. */
  proofNeeded?: boolean;
}

/** Throws if the payment is not admissible. Returns its route. */
export function checkAdmission(
  vault: Vault,
  platform: PlatformRow,
  { payer, payee, purpose, proofNeeded = false }: Admission,
  { sending, receiving }: Pick<Price, 'sending' | 'receiving'>,
): Route {
  const [from, to] = [sending.currency, receiving.currency];
  checkDirection(platform, from, 'OUTGOING');
  if (payee.kind === 'internal') checkDirection(platform, to, 'INCOMING');
  if (payee.kind === 'uma') checkOffer(payee.offer, receiving);
  if (payee.kind === 'external') {
    if (requiresPurpose(to) && purpose === undefined) {
      const missingFields = [
        { field: 'purposeOfPayment', message: `is required for payments in ${to}` },
      ];
      throw invalid(missingFields, 'MISSING_MANDATORY_USER_INFO');
    }
    if (payer.customer) checkSender(vault, payer.customer, to);
    checkReceiver(payee.account, proofNeeded);
  }
  const route = routeOf(sending, payee);
  checkPaymentSize(platform, { sending, to });
  checkAmount(platform, sending);
  if (to !== from) checkAmount(platform, receiving);
  return route;
}
