// The pending transaction of a payment, for quotes and same-currency transfers: its parties, its amounts,
// and the data that later steps need.

import { storedRateDetails } from '../../../catalog/currencies/rate-details.ts';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { RAILS } from '../../../catalog/rails/rails.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { insertTransaction, type OutgoingRow } from '../transactions/index.ts';
import { payeeInformation } from './counterparty.ts';
import type { Route } from './limits.ts';
import type { Payee, Payer } from './parties.ts';
import type { PaymentPrice } from './pricing.ts';

/** Source and destination of the transaction in the API. */
function partiesOf(payer: Payer, payee: Payee): Pick<OutgoingRow, 'source' | 'destination'> {
  const { currency } = payer;
  const customerId = payer.customer?.id;
  return {
    source:
      payer.kind === 'realtime'
        ? { sourceType: 'REALTIME_FUNDING', currency, ...(customerId ? { customerId } : {}) }
        : { sourceType: 'ACCOUNT', accountId: payer.account.id, currency },
    destination:
      'umaAddress' in payee
        ? {
            destinationType: 'UMA_ADDRESS',
            umaAddress: payee.umaAddress,
            currency: payee.currency,
          }
        : { destinationType: 'ACCOUNT', accountId: payee.account.id, currency: payee.currency },
  };
}

function amountsOf(money: PaymentPrice) {
  const { sending, receiving, platformFee } = money.price;
  return {
    sent_amount: sending.amount,
    sent_currency: sending.currency,
    received_amount: receiving.amount,
    received_currency: receiving.currency,
    fees: money.fees.amount,
    platform_fees: platformFee.amount,
    platform_fee_account: money.feeAccount,
    exchange_rate: money.exchangeRate,
    rate_details: money.rateDetails && storedRateDetails(money.rateDetails, money.firm !== null),
  };
}

interface PaymentDetails {
  id: string;
  quoteId?: string | undefined;
  description?: string | undefined;
  remittance?: string | undefined;
  purpose?: string | undefined;
  instructions?: PaymentInstructions[] | undefined;
  rail_payload?: OutgoingRow['rail_payload'] | undefined;
  proofNeeded?: boolean | undefined;
}

export function insertPayment(
  ctx: Ctx,
  parties: { platform: PlatformRow; payer: Payer; payee: Payee },
  money: PaymentPrice,
  { rail, railMode }: Route,
  {
    id,
    quoteId,
    description,
    remittance,
    purpose,
    instructions,
    rail_payload,
    proofNeeded = false,
  }: PaymentDetails,
): OutgoingRow {
  const { platform, payer, payee } = parties;
  const settlementSeconds = rail && RAILS[rail].settlementSeconds;
  const isDelayedRail = rail !== null && !RAILS[rail].instant;
  return insertTransaction(ctx, {
    id,
    platform_id: ctx.caller.platformId,
    customer_id: payer.customer?.id ?? null,
    platform_customer_id: payer.customer?.platform_customer_id ?? ctx.caller.platformId,
    type: 'OUTGOING',
    direction: 'DEBIT',
    status: 'PENDING',
    funds: 'NONE',
    ...partiesOf(payer, payee),
    source_account: payer.kind === 'realtime' ? null : payer.account.id,
    destination_account: payee.kind === 'uma' ? payee.umaAddress : payee.account.id,
    ...amountsOf(money),
    quote_id: quoteId,
    description,
    agent_id: ctx.caller.agentId,
    remittance,
    purpose,
    counterparty: payeeInformation(ctx.vault, platform, payer, payee),
    rail,
    rail_mode: railMode,
    expected_settlement_at:
      isDelayedRail && settlementSeconds !== null ? ctx.now + settlementSeconds * 1000 : null,
    settlement_seconds: settlementSeconds,
    instructions,
    needs_proof: proofNeeded || null,
    rail_payload,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}
