// The ledger legs of an outgoing payment, derived from its row: what leaves the source, and what goes on
// from there. The same list is held, posted, released, reversed or parked as the payment moves, so there
// is one place that says which account each cent passes through.

import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { lesser, type Money, subtract } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import type { Ctx, TransferInput } from '../../../runtime/operation/context.ts';
import { debitedOf, type OutgoingRow, receivedOf } from '../transactions/index.ts';

export type Leg = Omit<TransferInput, 'transactionId'>;

export interface Legs {
  /** Out of the source account: fees, and the part that is sent or sold. */
  source: Leg[];
  /** From the exchange to the clearing account or the receiving account. */
  onward: Leg[];
  /** From clearing to the outside, when a rail has confirmed; none inside the house. */
  settle: Leg[];
}

interface Paid {
  source: string;
  /** Receiving internal account, or null when a rail takes the money. */
  inside: string | null;
  sent: Money;
  received: Money;
  fees: Money;
  platformFees: Money;
}

const accountInside = (id: string | null): string | null =>
  id !== null && isId(id, 'InternalAccount') ? id : null;

function paid(row: OutgoingRow, environment: Mode): Paid {
  const sent = debitedOf(row);
  const { currency } = sent;
  return {
    source: accountInside(row.source_account) ?? systemAccount(environment, 'inbound', currency),
    inside: accountInside(row.destination_account),
    sent,
    received: receivedOf(row),
    fees: { currency, amount: row.fees },
    platformFees: { currency, amount: row.platform_fees },
  };
}

const leg = (step: string, debit: string, credit: string, { currency, amount }: Money): Leg => ({
  step,
  debit,
  credit,
  currency,
  amount,
});

/**
 * What is left after the fees, from the source to the target. Within one currency the exchange position
 * gives or takes the unit by which rounding misses what was promised.
 */
function sale(
  { source, sent, received, fees }: Paid,
  target: string,
  exchange: (currency: string) => string,
): Pick<Legs, 'source' | 'onward'> {
  const net = subtract(sent, fees);
  const [from, to] = [exchange(sent.currency), exchange(received.currency)];
  if (sent.currency !== received.currency) {
    return {
      source: [leg('sell', source, from, net)],
      onward: [leg('buy', to, target, received)],
    };
  }
  const direct = lesser(net, received);
  return {
    source: [
      leg('pay', source, target, direct),
      leg('rounding', source, from, subtract(net, direct)),
    ],
    onward: [leg('rounding', to, target, subtract(received, direct))],
  };
}

/** Source and target follow from the row: accounts inside, or the house's for an end that is outside. */
export function legsOf(row: OutgoingRow, environment: Mode): Legs {
  const part = paid(row, environment);
  const { source, inside, sent, received, fees, platformFees } = part;
  const feeAccount = systemAccount(environment, 'fees', sent.currency);
  const target = inside ?? systemAccount(environment, 'rail_in_transit', received.currency);
  const main = sale(part, target, (currency) =>
    systemAccount(environment, 'fx_position', currency),
  );
  const outside = systemAccount(environment, 'external_settlement', received.currency);
  const some = (each: Leg) => each.amount > 0n;
  return {
    source: [
      leg('fee.service', source, feeAccount, subtract(fees, platformFees)),
      leg('fee.platform', source, row.platform_fee_account ?? feeAccount, platformFees),
      ...main.source,
      // A platform that pays from the account its own fee goes to keeps the fee by sending less.
    ].filter((each) => some(each) && each.debit !== each.credit),
    onward: main.onward.filter(some),
    settle: inside === null ? [leg('settle', target, outside, received)] : [],
  };
}

/** Books money that has come in from outside for the payment. */
export function fund(ctx: Ctx, row: OutgoingRow, { currency, amount }: Money): void {
  ctx.transfer({
    transactionId: row.id,
    step: 'fund',
    debit: systemAccount(ctx.caller.environment, 'rail_in_transit', currency),
    credit: systemAccount(ctx.caller.environment, 'inbound', currency),
    currency,
    amount,
  });
}

/** Sets the money aside on the source. */
export function hold(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) ctx.hold({ transactionId: id, ...leg });
}

/** Turns what was set aside into movements and passes the money on. */
export function submit(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) {
    ctx.post({ transactionId: id, ...leg });
  }
  // Taken before anybody could shut an account, so it goes on.
  for (const leg of legs.onward) ctx.transfer({ transactionId: id, ...leg, force: true });
}

/** Source to destination at once, nothing set aside in between. */
export function payDirect(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of [...legs.source, ...legs.onward]) {
    ctx.transfer({ transactionId: id, ...leg });
  }
}

export function settle(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.settle) ctx.transfer({ transactionId: id, ...leg });
}

/** Gives back what was only set aside. */
export function release(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) {
    ctx.void({ transactionId: id, ...leg });
  }
}

/** Takes to `keeper` what was set aside and then released: money that cannot stay where it came from. */
export function park(ctx: Ctx, id: string, { source }: Legs, keeper: string): void {
  for (const leg of source) {
    const step = `park.${leg.step}`;
    ctx.transfer({ ...leg, transactionId: id, step, credit: keeper, force: true });
  }
}

/** Sends posted legs back the way they came, or to `keeper` in the source's stead. */
export function reverse(ctx: Ctx, id: string, legs: readonly Leg[], keeper?: string): void {
  for (const { step, debit, credit, currency, amount } of [...legs].reverse()) {
    ctx.transfer({
      transactionId: id,
      step: `refund.${step}`,
      debit: credit,
      credit: keeper ?? debit,
      currency,
      amount,
      force: true,
    });
  }
}
