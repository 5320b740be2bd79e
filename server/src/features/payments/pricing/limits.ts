// What a payment may amount to and by which rail it goes: the platform's settings for both currencies, the
// corridor's least and most, the reason a receiving country asks for, and how much may go to a wallet whose
// owner has not shown that it is theirs. Quotes and same-currency transfers are held to the same.
import { isSelfCustody } from '../../../catalog/accounts/account-info.ts';
import { allowsAmount, type Corridor, corridors } from '../../../catalog/currencies/corridors.ts';
import { needsPurpose } from '../../../catalog/rails/purposes.ts';
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

// What a receiving country wants to know of a business that pays into it, and a business may not have told
// us yet. Asked when a payment is quoted, so that nobody learns of it after the money was taken.

/** Currencies whose banks ask for the number that a paying business is registered under. */
const ASK_REGISTRATION: ReadonlySet<string> = new Set(
  'GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED'.split(' '),
);

/** Throws MISSING_MANDATORY_USER_INFO that names everything the business has to add to its profile. */
function checkSender(vault: Vault, customer: CustomerRow, to: string): void {
  if (customer.type !== 'BUSINESS') return;
  const firm = personalOf(vault, customer).details.businessInfo;
  const missing = [
    ...(firm?.businessType ? [] : ['businessType']),
    ...(ASK_REGISTRATION.has(to) && !firm?.registrationNumber ? ['registrationNumber'] : []),
  ];
  if (missing.length === 0) return;
  const errors = missing.map((name) => ({
    field: `businessInfo.${name}`,
    message: `is required for a business that pays in ${to}`,
  }));
  throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
}

/** The way a payment goes; no rail inside the house and to wallets. */
export interface Route {
  rail: PaymentRail | null;
  railMode: 'AUTO' | 'MANUAL' | null;
}

/** What European law lets go to an unproven wallet in one transfer. */
const UNPROVEN_LIMIT: Money = { currency: 'EUR', amount: 1_000_00n };
const SAME: Rate = { num: 1n, den: 1n };
const UNPROVEN: readonly string[] = ['PENDING_OWNERSHIP_VERIFICATION', 'UNVERIFIED'];

/**
 * Whether so much may go to this account only once its owner has proven that it is theirs. Told at the rates
 * of the moment the price is made; where there is no rate, nothing goes without proof.
 */
export async function needsProof(
  { account }: Payee & { kind: 'external' },
  receiving: Money,
  rates: RatePort | undefined,
): Promise<boolean> {
  if (!isSelfCustody(account.info)) return false;
  const { currency: from } = receiving;
  const { currency: to } = UNPROVEN_LIMIT;
  const found = from === to ? { rate: SAME } : await rates?.rate(from, to);
  if (!found) return true;
  return isLess(UNPROVEN_LIMIT, convert(receiving, { ...found.rate, from, to }, 'ceil'));
}

/**
 * Throws what `checkValidated` does, INVALID_RECEIVER for another account that cannot be paid, and
 * EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED for more to a wallet than goes without proof.
 */
export function checkReceiver(
  account: Pick<ExternalAccountRow, 'status' | 'info'>,
  proofNeeded: boolean,
): void {
  const { status } = account;
  if (status === 'ACTIVE') return;
  checkValidated(account);
  if (!UNPROVEN.includes(status)) {
    throw new Fault('INVALID_RECEIVER', `The destination account is ${status}; it must be ACTIVE.`);
  }
  if (!proofNeeded) return;
  throw new Fault(
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'Ownership of the destination wallet must be verified before this amount can be sent.',
  );
}

function outside(ways: readonly Corridor[], { currency, amount }: Money): Fault {
  if (ways.length === 0) {
    return new Fault(
      'NOT_IMPLEMENTED',
      `Payments from ${currency} to this account are not supported.`,
    );
  }
  const mins = ways.map((way) => Number(way.minSending));
  const maxes = ways.map((way) => Number(way.maxSending));
  const details = { min: Math.min(...mins), max: Math.max(...maxes) };
  return amount < BigInt(details.min)
    ? new Fault('AMOUNT_OUT_OF_RANGE', 'The amount is below the minimum for this payment.', details)
    : new Fault(
        'TRANSACTION_SIZE_LIMIT_EXCEEDED',
        'The amount is above the maximum for one payment.',
        details,
      );
}

/** The rail that carries this much from here to there; throws where none does. */
function routeOf(sending: Money, payee: Payee): Route {
  if (payee.kind !== 'external') return { rail: null, railMode: null };
  const { rails, railMode } = payee;
  const ways = corridors(sending.currency, payee.currency).filter(({ rail }) =>
    rails.length ? rail !== null && rails.includes(rail) : rail === null,
  );
  const open = ways.filter((way) => allowsAmount(way, sending));
  if (open.length === 0) throw outside(ways, sending);
  return { rail: chooseRail(open.flatMap((way) => way.rail ?? [])) ?? null, railMode };
}

interface Admission {
  payer: Payer;
  payee: Payee;
  purpose: string | undefined;
  /** Whether it goes to a wallet only once that is proven. */
  proofNeeded?: boolean;
}

/** Throws why this payment may not be made; answers the way it goes. */
export function admit(
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
    if (needsPurpose(to) && purpose === undefined) {
      const missing = [{ field: 'purposeOfPayment', message: `is required for payments in ${to}` }];
      throw invalid(missing, 'MISSING_MANDATORY_USER_INFO');
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
