// Firm quotes: rates that a provider holds until they expire, and redeems when a payment is
// executed.

import { Type } from '@sinclair/typebox';
import {
  named,
  oneOf,
  PositiveAmount,
  time,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { REDEMPTION_REJECTIONS } from '../rates.ts';
import { CurrencyText, type ProviderCall, seconds, shortText } from './fields.ts';

const From = withDescription(CurrencyText, 'Code of the currency that is sold, such as `EUR`.');
const To = withDescription(CurrencyText, 'Code of the currency that is bought, such as `EUR`.');
const SoldAmount = withDescription(PositiveAmount, 'Amount of `from`, in minor units.');
const BoughtAmount = withDescription(PositiveAmount, 'Amount of `to`, in minor units.');
const QuoteId = shortText('ID of the quote at Railhead, the same in every attempt.');

const FirmQuoteInput = named(
  'FirmQuoteRequest',
  Type.Object(
    {
      quoteId: QuoteId,
      from: From,
      to: To,
      side: oneOf(['SELL', 'BUY'], {
        description: 'SELL: `amount` of `from` is exchanged. BUY: `amount` of `to` is needed.',
      }),
      amount: withDescription(
        PositiveAmount,
        'Amount of the currency that `side` determines, in minor units.',
      ),
    },
    { description: 'Requests a rate for an amount.' },
  ),
);

export const FirmQuoteReply = named(
  'FirmQuote',
  variant(
    'result',
    {
      quoted: Type.Object(
        {
          reference: shortText('ID of the quote at the provider.'),
          rate: Type.String({
            pattern: '^[0-9]{1,20}(\\.[0-9]{1,30})?$',
            description: 'Units of `to` for one unit of `from`, such as `0.9154`.',
          }),
          expiresAt: time('Time until which the quote can be redeemed.'),
        },
        { description: 'The provider holds this rate.' },
      ),
      unavailable: Type.Object({}, { description: 'No rate is offered for this amount.' }),
    },
    { description: 'A quote. Without a quote, the mid rates apply.' },
  ),
);

const Redeem = named(
  'QuoteRedemption',
  Type.Object(
    {
      quoteId: QuoteId,
      reference: shortText('ID of the quote at the provider.'),
      from: From,
      to: To,
      soldAmount: SoldAmount,
      boughtAmount: BoughtAmount,
    },
    { description: 'Exchanges the amounts of a quote.' },
  ),
);

export const RedemptionState = named(
  'QuoteRedemptionState',
  variant(
    'state',
    {
      pending: Type.Object(
        {
          checkAfterSeconds: Type.Optional(seconds('Seconds until the next request. Default: 5.')),
        },
        { description: 'The result follows. The call is repeated.' },
      ),
      redeemed: Type.Object(
        {
          reference: shortText('ID of the exchange, as on the statement.'),
          soldAmount: SoldAmount,
          boughtAmount: BoughtAmount,
        },
        { description: 'The amounts were exchanged.' },
      ),
      rejected: Type.Object(
        { reason: oneOf(REDEMPTION_REJECTIONS, { description: 'Reason for the rejection.' }) },
        { description: 'Final: the amounts were not exchanged.' },
      ),
    },
    { description: 'State of the exchange.' },
  ),
);

export const FIRM_QUOTE_CALLS: Readonly<Record<string, ProviderCall>> = {
  '/rates/quote': {
    operationId: 'quoteRate',
    summary: 'Hold a rate for an amount. Repeated calls return the same rate',
    input: FirmQuoteInput,
    output: FirmQuoteReply,
  },
  '/rates/redeem': {
    operationId: 'redeemRate',
    summary: 'Exchange the amounts of a quote. Repeated calls exchange them only once',
    input: Redeem,
    output: RedemptionState,
  },
};
