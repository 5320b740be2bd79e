// What an external account takes: its one currency, within what the rails that reach it carry at once and
// the platform allows. Limits of rails are in the sending currency and are shown as what would arrive.

import { railsOf } from '../../../catalog/accounts/account-info.ts';
import type { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import { corridors } from '../../../catalog/currencies/corridors.ts';
import { needsPurpose } from '../../../catalog/rails/purposes.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { convert } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { customerOf } from '../../customers/records/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { midRate } from '../discovery/index.ts';
import { type ExternalAccountRow, externalAccountOf } from '../external-accounts/index.ts';
import type { Offer } from './lookup.ts';
import type { DiscoveryResult } from './save-lookup.ts';
import type { Sender } from './sender.ts';

/** Statuses of accounts that can be paid; the last two only in small amounts. */
const PAYABLE: readonly string[] = ['ACTIVE', 'PENDING_OWNERSHIP_VERIFICATION', 'UNVERIFIED'];

/** The ways from one currency to the account that are connected; throws where there is none. */
function corridorsTo({ rail: port }: Connectors, from: string, account: ExternalAccountRow) {
  const own = railsOf(account.info);
  const ways = corridors(from, account.currency).filter(({ rail }) => {
    if (!port?.carries(account.account_type, rail)) return false;
    return own.length ? rail !== null && own.includes(rail) : rail === null;
  });
  if (ways.length === 0) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `No connected rail supports payments from ${from} to this account.`,
    );
  }
  return ways;
}

const rising = (amounts: readonly bigint[]) => [...amounts].sort((a, b) => (a < b ? -1 : 1));
const least = (...amounts: bigint[]) => rising(amounts)[0] as bigint;
const most = (...amounts: bigint[]) => rising(amounts).at(-1) as bigint;

/** The offer within what the platform allows in this currency. */
function withinPlatformLimits(platform: PlatformRow, offer: Offer): Offer {
  const own = platform.currencies.find((each) => each.currencyCode === offer.currency);
  if (!own) return offer;
  const min = most(offer.min, BigInt(own.minAmount));
  const max = least(offer.max, BigInt(own.maxAmount));
  if (max < min || max < 1n) {
    const reason = `The limits of the platform allow no payment in ${offer.currency} to this account.`;
    throw new Fault('LOOKUP_REQUEST_FAILED', reason);
  }
  return { ...offer, min, max };
}

/** The account of the calling platform and what can be sent to it. */
export async function findAccount(
  ctx: Ctx,
  connectors: Connectors,
  sender: Sender,
  accountId: string,
): Promise<DiscoveryResult> {
  const account = await externalAccountOf(ctx, accountId);
  if (account.customer_id !== null) await customerOf(ctx, account.customer_id, { alive: true });
  if (!PAYABLE.includes(account.status)) {
    throw new Fault(
      'INVALID_RECEIVER',
      `The account is ${account.status} and cannot receive payments.`,
    );
  }
  const { currency } = account;
  const ways = corridorsTo(connectors, sender.currency, account);
  const rate = await midRate(connectors.rates, sender.currency, currency);
  if (!rate) {
    const reason = `No exchange rate from ${sender.currency} to ${currency} is available.`;
    throw new Fault('QUOTE_RATE_UNAVAILABLE', reason);
  }
  const sending = (amount: bigint) => ({ currency: sender.currency, amount });
  const offer = {
    currency,
    min: least(...ways.map((way) => convert(sending(way.minSending), rate, 'ceil').amount)),
    max: most(...ways.map((way) => convert(sending(way.maxSending), rate, 'floor').amount)),
  };
  const purpose: CounterpartyFieldDefinition = { name: 'PURPOSE_OF_PAYMENT', mandatory: true };
  return {
    kind: 'ACCOUNT',
    receiver: account.id,
    offers: [withinPlatformLimits(sender.platform, offer)],
    required: needsPurpose(currency) ? [purpose] : [],
  };
}
