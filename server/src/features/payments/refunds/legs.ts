// The ledger legs of an outgoing payment, derived from its row. Every step of the lifecycle holds, posts,
// releases or reverses the same legs, so the accounts of every amount are defined in one place.

import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { type Money, smallerOf, subtract } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import type { Ctx, TransferInput } from '../../../runtime/operation/context.ts';
import { debitedOf, type OutgoingRow, receivedOf } from '../transactions/index.ts';

export type Leg = Omit<TransferInput, 'transactionId'>;

export interface Legs {
  /**
   * Debits of the source account: fees, the amount that is sent or sold, and a rounding difference.
   */
  source: Leg[];
  /** From the FX position to rail in transit or the receiving account. */
  destination: Leg[];
  /**
   * From rail in transit to external settlement, when the rail has confirmed. Empty for internal payments.
   */
  settle: Leg[];
}

interface PaidAmounts {
  source: string;
  /** Receiving internal account, or null for payments over a rail. */
  receivingAccount: string | null;
  sentAmount: Money;
  receivedAmount: Money;
  fees: Money;
  platformFees: Money;
}

const internalAccountId = (id: string | null): string | null =>
  id !== null && isId(id, 'InternalAccount') ? id : null;

function paidAmountsOf(row: OutgoingRow, environment: Mode): PaidAmounts {
  const debitedAmount = debitedOf(row);
  const { currency } = debitedAmount;
  return {
    source:
      internalAccountId(row.source_account) ?? systemAccount(environment, 'inbound', currency),
    receivingAccount: internalAccountId(row.destination_account),
    sentAmount: debitedAmount,
    receivedAmount: receivedOf(row),
    fees: { currency, amount: row.fees },
    platformFees: { currency, amount: row.platform_fees },
  };
}

const legOf = (step: string, debit: string, credit: string, { currency, amount }: Money): Leg => ({
  step,
  debit,
  credit,
  currency,
  amount,
});

/**
 * The amount after fees, from source to target. Within one currency the FX position absorbs the rounding
 * difference to the guaranteed receiving amount.
 */
function principalLegsOf(
  { source, sentAmount, receivedAmount, fees }: PaidAmounts,
  target: string,
  fxPosition: (currency: string) => string,
): Pick<Legs, 'source' | 'destination'> {
  const netAmount = subtract(sentAmount, fees);
  const [from, to] = [fxPosition(sentAmount.currency), fxPosition(receivedAmount.currency)];
  if (sentAmount.currency !== receivedAmount.currency) {
    return {
      source: [legOf('sell', source, from, netAmount)],
      destination: [legOf('buy', to, target, receivedAmount)],
    };
  }
  const directAmount = smallerOf(netAmount, receivedAmount);
  return {
    source: [
      legOf('pay', source, target, directAmount),
      legOf('rounding', source, from, subtract(netAmount, directAmount)),
    ],
    destination: [legOf('rounding', to, target, subtract(receivedAmount, directAmount))],
  };
}

/** Source and target are internal accounts, or system accounts for an external party. */
export function legsOf(row: OutgoingRow, environment: Mode): Legs {
  const amounts = paidAmountsOf(row, environment);
  const { source, receivingAccount, sentAmount, receivedAmount, fees, platformFees } = amounts;
  const feeAccount = systemAccount(environment, 'fees', sentAmount.currency);
  const target =
    receivingAccount ?? systemAccount(environment, 'rail_in_transit', receivedAmount.currency);
  const principalLegs = principalLegsOf(amounts, target, (currency) =>
    systemAccount(environment, 'fx_position', currency),
  );
  const settlementAccount = systemAccount(
    environment,
    'external_settlement',
    receivedAmount.currency,
  );
  const isNonZero = (each: Leg) => each.amount > 0n;
  return {
    source: [
      legOf('fee.service', source, feeAccount, subtract(fees, platformFees)),
      legOf('fee.platform', source, row.platform_fee_account ?? feeAccount, platformFees),
      ...principalLegs.source,
      // A platform that pays from its own fee account keeps the fee in the account.
    ].filter((each) => isNonZero(each) && each.debit !== each.credit),
    destination: principalLegs.destination.filter(isNonZero),
    settle:
      receivingAccount === null ? [legOf('settle', target, settlementAccount, receivedAmount)] : [],
  };
}

/** Posts external funds received for the payment. */
export function postFunding(ctx: Ctx, row: OutgoingRow, { currency, amount }: Money): void {
  ctx.transfer({
    transactionId: row.id,
    step: 'fund',
    debit: systemAccount(ctx.caller.environment, 'rail_in_transit', currency),
    credit: systemAccount(ctx.caller.environment, 'inbound', currency),
    currency,
    amount,
  });
}

/** Holds the funds on the source. */
export function hold(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) ctx.hold({ transactionId: id, ...leg });
}

/** Posts the held amounts and forwards them to rail in transit. */
export function submit(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) {
    ctx.post({ transactionId: id, ...leg });
  }
  // Funds that were held before a freeze are posted regardless of the freeze.
  for (const leg of legs.destination) ctx.transfer({ transactionId: id, ...leg, force: true });
}

/** Posts from source to destination without a hold. */
export function payDirect(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of [...legs.source, ...legs.destination]) {
    ctx.transfer({ transactionId: id, ...leg });
  }
}

export function settle(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.settle) ctx.transfer({ transactionId: id, ...leg });
}

export function release(ctx: Ctx, id: string, legs: Legs): void {
  for (const leg of legs.source) {
    ctx.void({ transactionId: id, ...leg });
  }
}

/** Posts released amounts to suspense, because they cannot remain on the source. */
export function postToSuspense(ctx: Ctx, id: string, { source }: Legs, suspense: string): void {
  for (const leg of source) {
    const step = `suspense.${leg.step}`;
    ctx.transfer({ ...leg, transactionId: id, step, credit: suspense, force: true });
  }
}

/** Reverses posted legs, to their debit accounts or to `suspense`. */
export function reverse(ctx: Ctx, id: string, legs: readonly Leg[], suspense?: string): void {
  for (const { step, debit, credit, currency, amount } of [...legs].reverse()) {
    ctx.transfer({
      transactionId: id,
      step: `refund.${step}`,
      debit: credit,
      credit: suspense ?? debit,
      currency,
      amount,
      force: true,
    });
  }
}
