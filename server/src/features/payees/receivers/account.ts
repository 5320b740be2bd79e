// Payee discovery for external accounts: the currency of the account, within the limits of its
// rails and of the platform. Rail limits are in the sending currency and are converted to the
// receiving currency.

import { railsOf } from '../../../catalog/accounts/account-info.ts';
import type { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import { corridors } from '../../../catalog/currencies/corridors.ts';
import { requiresPurpose } from '../../../catalog/rails/purposes.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { convert } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { customerOf } from '../../customers/records/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { midRate } from '../discovery/index.ts';
import { type ExternalAccountRow, externalAccountOf } from '../external-accounts/index.ts';
import type { Offer } from './payee-discovery.ts';
import type { DiscoveryResult } from './save-discovery.ts';
import type { Sender } from './sender.ts';

/**
 * Statuses of accounts that can receive payments. The last two statuses permit only small amounts.
 */
const PAYABLE_STATUSES: readonly string[] = [
  'ACTIVE',
  'PENDING_OWNERSHIP_VERIFICATION',
  'UNVERIFIED',
];

/** The connected corridors to the account. Throws NOT_IMPLEMENTED if there are none. */
function corridorsTo({ rail: port }: Connectors, from: string, account: ExternalAccountRow) {
  const accountRails = railsOf(account.info);
  const connectedCorridors = corridors(from, account.currency).filter(({ rail }) => {
    if (!port?.supportsPayout(account.account_type, rail)) return false;
    return accountRails.length ? rail !== null && accountRails.includes(rail) : rail === null;
  });
  if (connectedCorridors.length === 0) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `No connected rail supports payments from ${from} to this account.`,
    );
  }
  return connectedCorridors;
}

const sortAscending = (amounts: readonly bigint[]) => [...amounts].sort((a, b) => (a < b ? -1 : 1));
const smallestOf = (...amounts: bigint[]) => sortAscending(amounts)[0] as bigint;
const largestOf = (...amounts: bigint[]) => sortAscending(amounts).at(-1) as bigint;

/** Restricts the offer to the limits of the platform. Throws LOOKUP_REQUEST_FAILED. */
function limitToPlatform(platform: PlatformRow, offer: Offer): Offer {
  const currencySettings = platform.currencies.find((each) => each.currencyCode === offer.currency);
  if (!currencySettings) return offer;
  const min = largestOf(offer.min, BigInt(currencySettings.minAmount));
  const max = smallestOf(offer.max, BigInt(currencySettings.maxAmount));
  if (max < min || max < 1n) {
    const reason = `The limits of the platform allow no payment in ${offer.currency} to this account.`;
    throw new Fault('LOOKUP_REQUEST_FAILED', reason);
  }
  return { ...offer, min, max };
}

/** Offer of the account. Throws if the account cannot receive payments. */
export async function findAccount(
  ctx: Ctx,
  connectors: Connectors,
  sender: Sender,
  accountId: string,
): Promise<DiscoveryResult> {
  const account = await externalAccountOf(ctx, accountId);
  if (account.customer_id !== null)
    await customerOf(ctx, account.customer_id, { rejectDeleted: true });
  if (!PAYABLE_STATUSES.includes(account.status)) {
    throw new Fault(
      'INVALID_RECEIVER',
      `The account is ${account.status} and cannot receive payments.`,
    );
  }
  const { currency } = account;
  const connectedCorridors = corridorsTo(connectors, sender.currency, account);
  const rate = await midRate(connectors.rates, sender.currency, currency);
  if (!rate) {
    const reason =
      `No exchange rate from ${sender.currency} to ${currency} is available. ` +
      'Repeat the request later.';
    throw new Fault('QUOTE_RATE_UNAVAILABLE', reason);
  }
  const sendingAmount = (amount: bigint) => ({ currency: sender.currency, amount });
  const offer = {
    currency,
    min: smallestOf(
      ...connectedCorridors.map(
        (each) => convert(sendingAmount(each.minSending), rate, 'ceil').amount,
      ),
    ),
    max: largestOf(
      ...connectedCorridors.map(
        (each) => convert(sendingAmount(each.maxSending), rate, 'floor').amount,
      ),
    ),
  };
  const purpose: CounterpartyFieldDefinition = { name: 'PURPOSE_OF_PAYMENT', mandatory: true };
  return {
    kind: 'ACCOUNT',
    receiver: account.id,
    offers: [limitToPlatform(sender.platform, offer)],
    requiredFields: requiresPurpose(currency) ? [purpose] : [],
  };
}
