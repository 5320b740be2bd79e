// A lookup as a quote uses it: found again by its id, asked what may be sent and what must be told. Whoever
// is unknown, somebody else's or too old is the same as absent.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import { retentionSweep } from '../../../runtime/db/retention.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type PayeeDiscoveryRow, payeeDiscoveries } from './store.ts';

export const DISCOVERY_TTL_MS = 10 * 60_000;

/** A lookup of the calling platform that still counts; LOOKUP_REQUEST_NOT_FOUND for every other id. */
export async function payeeDiscoveryOf(ctx: Ctx, id: string): Promise<PayeeDiscoveryRow> {
  const row = isId(id, 'Lookup') ? await ctx.read(payeeDiscoveries, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId || row.expires_at <= ctx.now) {
    throw new Fault(
      'LOOKUP_REQUEST_NOT_FOUND',
      'Lookup not found or expired. Create a new lookup.',
    );
  }
  return row;
}

/** What one payment may amount to, in smallest units of the currency received. */
export interface Offer {
  currency: string;
  min: bigint;
  max: bigint;
}

/**
 * The currency to deliver: the one named in `field`, or the receiver's preferred one. Throws
 * INVALID_CURRENCY for one that the lookup did not offer.
 */
export function offerOf(
  lookup: PayeeDiscoveryRow,
  currency?: string,
  field = 'destination.currency',
): Offer {
  const { currencies } = lookup;
  const found =
    currency === undefined ? currencies[0] : currencies.find((c) => c.code === currency);
  if (!found) {
    const offered = currencies.map((each) => each.code).join(', ');
    throw invalidField(field, `must be one of ${offered}`, 'INVALID_CURRENCY');
  }
  return { currency: found.code, min: BigInt(found.min), max: BigInt(found.max) };
}

/** Throws AMOUNT_OUT_OF_RANGE for more or less than the receiver takes at once. */
export function checkOffer({ currency, min, max }: Offer, receiving: Money): void {
  const isTooLittle = isLess(receiving, { currency, amount: min });
  if (!isTooLittle && !isLess({ currency, amount: max }, receiving)) return;
  throw new Fault(
    'AMOUNT_OUT_OF_RANGE',
    `The receiver accepts ${min} to ${max} ${currency} per payment, not ${receiving.amount}.`,
    { min: Number(min), max: Number(max) },
  );
}

/** What the receiver's side insists on and `known` does not tell, by name. */
export const missingPayerData = (
  lookup: Pick<PayeeDiscoveryRow, 'required_payer_data'>,
  known: Readonly<Record<string, unknown>>,
): string[] =>
  lookup.required_payer_data
    .filter(({ mandatory }) => mandatory)
    .map(({ name }) => name)
    .filter((name) => known[name] === undefined || known[name] === null || known[name] === '');

/** Deletes lookups that have expired. */
export const payeeDiscoverySweep = () =>
  retentionSweep('lookups.forget', [{ table: 'payee_discoveries', time: 'expires_at', keepMs: 0 }]);
