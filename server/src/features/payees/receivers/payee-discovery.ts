// A payee discovery as a quote uses it: currencies, limits and required payer data. An unknown or
// expired ID, or an ID of another platform, is not found.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import { retentionSweep } from '../../../runtime/db/retention.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type PayeeDiscoveryRow, payeeDiscoveries } from './store.ts';

export const DISCOVERY_TTL_MS = 10 * 60_000;

/** A valid payee discovery of the caller's platform. Throws LOOKUP_REQUEST_NOT_FOUND. */
export async function payeeDiscoveryOf(ctx: Ctx, id: string): Promise<PayeeDiscoveryRow> {
  const row = isId(id, 'Lookup') ? await ctx.read(payeeDiscoveries, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId || row.expires_at <= ctx.now) {
    throw new Fault(
      'LOOKUP_REQUEST_NOT_FOUND',
      'Payee discovery not found or expired. Request a new payee discovery.',
    );
  }
  return row;
}

/** Limits of one payment, in minor units of the receiving currency. */
export interface Offer {
  currency: string;
  min: bigint;
  max: bigint;
}

/**
 * The offer in `currency`, or in the preferred currency of the receiver. Throws INVALID_CURRENCY if
 * it is not offered.
 */
export function offerOf(
  discovery: PayeeDiscoveryRow,
  currency?: string,
  field = 'destination.currency',
): Offer {
  const { currencies } = discovery;
  const foundCurrency =
    currency === undefined ? currencies[0] : currencies.find((c) => c.code === currency);
  if (!foundCurrency) {
    const offeredCodes = currencies.map((each) => each.code).join(', ');
    throw invalidField(field, `must be one of ${offeredCodes}`, 'INVALID_CURRENCY');
  }
  return {
    currency: foundCurrency.code,
    min: BigInt(foundCurrency.min),
    max: BigInt(foundCurrency.max),
  };
}

/** Throws AMOUNT_OUT_OF_RANGE outside the limits of the receiver. */
export function checkOffer({ currency, min, max }: Offer, receivingAmount: Money): void {
  const isTooLittle = isLess(receivingAmount, { currency, amount: min });
  if (!isTooLittle && !isLess({ currency, amount: max }, receivingAmount)) return;
  throw new Fault(
    'AMOUNT_OUT_OF_RANGE',
    `The receiver accepts ${min} to ${max} minor units of ${currency} per payment.`,
    { min: Number(min), max: Number(max) },
  );
}

/** Names of the mandatory fields that `payerData` does not contain. */
export const missingPayerData = (
  discovery: Pick<PayeeDiscoveryRow, 'required_payer_data'>,
  payerData: Readonly<Record<string, unknown>>,
): string[] =>
  discovery.required_payer_data
    .filter(({ mandatory }) => mandatory)
    .map(({ name }) => name)
    .filter(
      (name) => payerData[name] === undefined || payerData[name] === null || payerData[name] === '',
    );

/** Deletes expired payee discoveries. */
export const payeeDiscoverySweep = () =>
  retentionSweep('lookups.purge', [{ table: 'payee_discoveries', time: 'expires_at', keepMs: 0 }]);
