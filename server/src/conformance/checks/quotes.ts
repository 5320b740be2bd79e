// Checks of firm quotes: a rate is held for its quote, and the amounts of the call are exchanged
// once.
import { FirmQuoteReply, RedemptionState } from '../../connectors/ports/providers/firm-quotes.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure, skipError } from '../verdict.ts';

const PAIR = { from: 'USD', to: 'EUR' };
const SOLD_AMOUNT = 1_000_00;

const newRequest = ({ context }: Session) => ({
  ...PAIR,
  ...{ quoteId: `Quote:${uuid7(context.effects)}`, side: 'SELL', amount: SOLD_AMOUNT },
});

async function quoteOf(session: Session, request: ReturnType<typeof newRequest>) {
  const reply = await session.read('/rates/quote', request, FirmQuoteReply);
  if (reply.result === 'quoted') return reply;
  throw skipError('no rate from USD to EUR is offered');
}

/** Requests a rate. Returns the body of its redemption. */
async function holdQuote(session: Session) {
  const request = newRequest(session);
  const { reference, rate } = await quoteOf(session, request);
  const amounts = { soldAmount: SOLD_AMOUNT, boughtAmount: Math.floor(SOLD_AMOUNT * Number(rate)) };
  return { ...PAIR, ...amounts, quoteId: request.quoteId, reference };
}

async function redeem(session: Session, body: object) {
  const result = await session.poll(async () => {
    const reply = await session.read('/rates/redeem', body, RedemptionState);
    return reply.state === 'pending' ? undefined : reply;
  });
  if (result?.state === 'redeemed') return result;
  throw failure(result ? `${result.state}, ${result.reason}` : 'no result');
}

export const quoteChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('firm_quotes'),
  phase: 'parallel',
  checks: [
    {
      name: 'quotes.same-rate',
      action: 'a rate is requested twice for one quote',
      expected: 'the same rate, reference and expiry, which is in the future',
      remedy: 'Store the rate by quoteId, and return it to later calls.',
      async run(session) {
        const request = newRequest(session);
        const [firstQuote, secondQuote] = [
          await quoteOf(session, request),
          await quoteOf(session, request),
        ];
        if (JSON.stringify(firstQuote) !== JSON.stringify(secondQuote))
          throw failure(`${firstQuote.rate}, ${secondQuote.rate}`);
        if (Date.parse(firstQuote.expiresAt) <= session.context.effects.now())
          throw failure('expired');
        return firstQuote.rate;
      },
    },
    {
      name: 'quotes.redeem-once',
      action: 'a quote is redeemed three times, twice concurrently',
      expected: 'one exchange: the same reference each time',
      remedy: 'Store the exchange by quoteId before it is executed.',
      async run(session) {
        const body = await holdQuote(session);
        const concurrentReplies = await Promise.all([redeem(session, body), redeem(session, body)]);
        const replies = [...concurrentReplies, await redeem(session, body)];
        const references = [...new Set(replies.map(({ reference }) => reference))];
        if (references.length > 1) throw failure(references.join(', '));
        return references.join();
      },
    },
    {
      name: 'quotes.amounts',
      action: 'the exchanged amounts are compared with those of the call',
      expected: 'the same amounts',
      remedy: 'Exchange exactly soldAmount for boughtAmount, or reject the redemption.',
      async run(session) {
        const body = await holdQuote(session);
        const { soldAmount, boughtAmount } = await redeem(session, body);
        if (soldAmount !== body.soldAmount || boughtAmount !== body.boughtAmount) {
          throw failure(`${soldAmount} for ${boughtAmount}`);
        }
        return `${soldAmount} for ${boughtAmount}`;
      },
    },
    {
      name: 'quotes.unknown',
      action: 'a quote that was never held is redeemed',
      expected: '"rejected", or the status 404',
      remedy: 'Reject an exchange without a held rate.',
      async run(session) {
        const heldQuote = await holdQuote(session);
        const body = { ...heldQuote, quoteId: newRequest(session).quoteId, reference: 'unknown' };
        const { status, body: text } = await session.call('/rates/redeem', body);
        if (status === 404 || text.includes('"rejected"')) return `status ${status}`;
        throw failure(`status ${status}, ${text.slice(0, 60)}`);
      },
    },
  ],
};
