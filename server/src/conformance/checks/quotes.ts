// Checks of firm quotes: a rate is held for its quote, and exchanged once, in the amounts of the call.
import { FirmQuoteReply, RedemptionState } from '../../connectors/ports/providers/firm-quotes.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem, skipped } from '../verdict.ts';

const PAIR = { from: 'USD', to: 'EUR' };
const SOLD = 1_000_00;

const newRequest = ({ parts }: Trial) => ({
  ...PAIR,
  ...{ quoteId: `Quote:${uuid7(parts.effects)}`, side: 'SELL', amount: SOLD },
});

async function quoteOf(trial: Trial, request: ReturnType<typeof newRequest>) {
  const reply = await trial.read('/rates/quote', request, FirmQuoteReply);
  if (reply.result === 'quoted') return reply;
  throw skipped('no rate from USD to EUR is offered');
}

/** A held rate, and the body of its redemption. */
async function heldQuote(trial: Trial) {
  const request = newRequest(trial);
  const { reference, rate } = await quoteOf(trial, request);
  const amounts = { soldAmount: SOLD, boughtAmount: Math.floor(SOLD * Number(rate)) };
  return { ...PAIR, ...amounts, quoteId: request.quoteId, reference };
}

async function redeemed(trial: Trial, body: object) {
  const result = await trial.until(async () => {
    const reply = await trial.read('/rates/redeem', body, RedemptionState);
    return reply.state === 'pending' ? undefined : reply;
  });
  if (result?.state === 'redeemed') return result;
  throw problem(result ? `${result.state}, ${result.reason}` : 'no result');
}

export const quoteChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('firm_quotes'),
  when: 'together',
  checks: [
    {
      name: 'quotes.same-rate',
      tried: 'a rate is requested twice for one quote',
      expected: 'the same rate, reference and expiry, which is in the future',
      remedy: 'Store the rate by quoteId, and return it to later calls.',
      async run(trial) {
        const request = newRequest(trial);
        const [one, two] = [await quoteOf(trial, request), await quoteOf(trial, request)];
        if (JSON.stringify(one) !== JSON.stringify(two)) throw problem(`${one.rate}, ${two.rate}`);
        if (Date.parse(one.expiresAt) <= trial.parts.effects.now()) throw problem('expired');
        return one.rate;
      },
    },
    {
      name: 'quotes.redeem-once',
      tried: 'a quote is redeemed three times, twice at once',
      expected: 'one exchange: the same reference each time',
      remedy: 'Store the exchange by quoteId before it is executed.',
      async run(trial) {
        const body = await heldQuote(trial);
        const first = await Promise.all([redeemed(trial, body), redeemed(trial, body)]);
        const all = [...first, await redeemed(trial, body)];
        const references = [...new Set(all.map(({ reference }) => reference))];
        if (references.length > 1) throw problem(references.join(', '));
        return references.join();
      },
    },
    {
      name: 'quotes.amounts',
      tried: 'the exchanged amounts are compared with those of the call',
      expected: 'the same amounts',
      remedy: 'Exchange exactly soldAmount for boughtAmount, or reject the redemption.',
      async run(trial) {
        const body = await heldQuote(trial);
        const { soldAmount, boughtAmount } = await redeemed(trial, body);
        if (soldAmount !== body.soldAmount || boughtAmount !== body.boughtAmount) {
          throw problem(`${soldAmount} for ${boughtAmount}`);
        }
        return `${soldAmount} for ${boughtAmount}`;
      },
    },
    {
      name: 'quotes.unknown',
      tried: 'a quote is redeemed that was never held',
      expected: '"rejected", or the status 404',
      remedy: 'Exchange nothing without a held rate.',
      async run(trial) {
        const held = await heldQuote(trial);
        const body = { ...held, quoteId: newRequest(trial).quoteId, reference: 'unknown' };
        const { status, body: text } = await trial.call('/rates/redeem', body);
        if (status === 404 || text.includes('"rejected"')) return `status ${status}`;
        throw problem(`status ${status}, ${text.slice(0, 60)}`);
      },
    },
  ],
};
