// Card payments in the export. The line of a payment agrees with the postings of the same export,
// whatever events the payment had.
import { beforeAll, expect, it } from 'vitest';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardPayments, type PaymentOptions } from '../../../test/kit/cards/card-payments.ts';
import type { CardNotice } from '../../connectors/ports/cards.ts';

const DAYS = ['--from', '2026-01-05', '--to', '2026-01-10'];

const app = testApp({ start: Date.UTC(2026, 0, 5, 9) });
let payments: ReturnType<typeof cardPayments>;
beforeAll(() => {
  payments = cardPayments(app);
});

/** Rows of an export without quoted cells. */
async function exportRows(kind: string): Promise<Record<string, string>[]> {
  const { code, out, err } = await commandRunner(app)(['export', kind, ...DAYS]);
  expect([code, err]).toEqual([0, '']);
  const [head = [], ...rows] = out
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((row) =>
    Object.fromEntries(head.map((name, index) => [name, row[index] as string])),
  );
}

/** Net postings of a payment on its account. */
async function netPostingsOf(account: string, transaction: string): Promise<bigint> {
  const rows = (await exportRows('postings')).filter(
    (each) => each.transaction_id === transaction && each.effect === 'POSTED',
  );
  return rows.reduce((sum, { minor, credit_account, debit_account }) => {
    if (credit_account === account) return sum + BigInt(minor as string);
    return debit_account === account ? sum - BigInt(minor as string) : sum;
  }, 0n);
}

type Step = [kind: CardNotice['kind'], amount?: bigint] | 'CLOSE';

const FULL_CLEARING: Step = ['CLEARING', 100n];
const CREDIT = { kind: 'credit_authorization' };
const USDB = { currency: 'USDB', funds: 10_000_000 };
const LIMITED_FUNDS = { funds: 100 };

it.each<[string, PaymentOptions, Step[], { sent?: string; received?: string }]>([
  ['nothing was cleared yet', {}, [], { sent: '1.00' }],
  [
    'less was cleared than was authorized',
    {},
    [
      ['CLEARING', 60n],
      ['CLEARING', 0n],
    ],
    { sent: '0.60' },
  ],
  ['more was cleared than was authorized', {}, [['CLEARING', 130n]], { sent: '1.30' }],
  ['the authorization expired', {}, [['AUTHORIZATION_EXPIRY']], { sent: '0.00' }],
  ['a part was refunded', {}, [FULL_CLEARING, ['RETURN', 40n]], { sent: '0.60' }],
  ['all was refunded', {}, [FULL_CLEARING, ['RETURN', 100n]], { sent: '0.00' }],
  [
    'a refund was reversed',
    {},
    [FULL_CLEARING, ['RETURN', 100n], ['RETURN_REVERSAL']],
    { sent: '1.00' },
  ],
  [
    'a part was written off',
    LIMITED_FUNDS,
    [FULL_CLEARING, 'CLOSE', ['CLEARING', 20n]],
    { sent: '1.00' },
  ],
  [
    'more was refunded than was paid',
    LIMITED_FUNDS,
    [FULL_CLEARING, 'CLOSE', ['CLEARING', 20n], ['RETURN', 120n]],
    { sent: '0.00' },
  ],
  ['a credit is authorized', CREDIT, [], { received: '0.00' }],
  ['a credit was cleared', CREDIT, [['CLEARING', 100n]], { received: '1.00' }],
  [
    'a part was cleared and refunded in USDB',
    USDB,
    [
      ['CLEARING', 60n],
      ['RETURN', 5n],
    ],
    { sent: '0.950000' },
  ],
  [
    'a credit in USDB is cleared immediately',
    { ...USDB, kind: 'financial_credit_authorization' },
    [],
    { received: '1.000000' },
  ],
])(
  'the export agrees with the postings of a payment if %s',
  async (_, options, steps, expected) => {
    const payment = await payments.startPayment(options);
    for (const step of steps) {
      if (step === 'CLOSE') {
        await payment.close();
        continue;
      }
      const [kind, amount] = step;
      const notice = amount === undefined ? { kind } : { kind, amount };
      await payment.notify(notice as Parameters<typeof payment.notify>[0]);
    }
    const line = (await exportRows('transactions')).find(
      (each) => each.transaction_id === payment.id,
    );
    const currency = options.currency ?? 'USD';
    expect(line).toMatchObject({
      type: 'CARD',
      sent_currency: expected.sent === undefined ? '' : currency,
      sent_amount: expected.sent ?? '',
      received_currency: expected.received === undefined ? '' : currency,
      received_amount: expected.received ?? '',
      refund_status: '',
      refund_reference: '',
    });
    const [sentAmount, receivedAmount] = [line?.sent_minor, line?.received_minor].map(
      (each) => each || '0',
    );
    const net = BigInt(receivedAmount as string) - BigInt(sentAmount as string);
    expect(await netPostingsOf(payment.accountId, payment.id)).toBe(net);
  },
);
