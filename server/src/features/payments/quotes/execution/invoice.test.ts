// Payments to Lightning invoices, at the issue time of the published test invoices: amount, expiry,
// and one payment per invoice across owners and under concurrency.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { bolt11 } from '../../../../connectors/sandbox/payments/bolt11.ts';

const ISSUED_S = 1_496_314_658;
/** An invoice without an amount, valid for an hour. */
const DONATION_INVOICE =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq' +
  '5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9q' +
  'rsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwsp' +
  'yetp5h2tztugp9lfyql';

/** An invoice for 50,000 satoshis whose suffix makes the sandbox reject the payment. */
const FAILING_INVOICE =
  'lnbcrt500u1pvjluezsp5qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqspp5qqqp2zgqqqqq' +
  'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdq9w3jkzxqrrss9qrsgq3frtmlcdpg76utg68kyek88nm9fe' +
  'mptnvnrcnxsge9aw4awafj7x4qyf4rrgsga2vylzxnnj6q55vp64wtapspaz85g6fyjr4tmd0lcp6lr002';

const app = testApp({ start: (ISSUED_S + 10) * 1_000 });

let invoiceCount = 0;

/** A unique invoice, for 50,000 satoshis by default. */
const createInvoice = (
  overrides: { amountMsat?: bigint; expirySeconds?: number; prefix?: string } = {},
) =>
  bolt11({
    prefix: 'lnbcrt',
    amountMsat: 50_000_000n,
    expirySeconds: 7_200,
    ...overrides,
    timestamp: Math.floor(app.effects.now() / 1_000),
    paymentHash: new Uint8Array(32).fill(++invoiceCount),
    paymentSecret: new Uint8Array(32).fill(1),
    description: 'tea',
    privateKey: new Uint8Array(32).fill(7),
  });

interface Payer {
  person: { id: string };
  btc: string;
  options: CallOptions;
}

async function createPayer(options: CallOptions = {}): Promise<Payer> {
  const person = await createCustomer(app, options, { currencies: ['BTC'] });
  const { id: btc } = await findInternalAccount(app, person.id, 'BTC', options);
  await fundAccount(app, btc, 1_000_000, options);
  return { person, btc, options };
}

const register = ({ person, options }: Payer, details: object) => {
  const accountInfo = { accountType: 'LIGHTNING', ...details };
  const body = { currency: 'BTC', customerId: person.id, accountInfo };
  return app.call('POST', '/customers/external-accounts', body, options);
};

const registerInvoice = async (payer: Payer, details: object): Promise<string> =>
  ok(await register(payer, details), 201).id;

const requestQuote = (
  { btc, options }: Payer,
  to: string,
  amount = 50_000,
  overrides: object = {},
) => {
  const body = quoteBody(btc, to, amount, { lockedCurrencySide: 'RECEIVING', ...overrides });
  return app.call('POST', '/quotes', body, options);
};

const execute = ({ options }: Payer, { body }: { body: { id: string } }) =>
  app.call('POST', `/quotes/${body.id}/execute`, undefined, options);

const outcomeOf = ({ status, body }: { status: number; body: { code?: string } }) =>
  status < 300 ? status : [status, body.code];

const INVOICE_USED = [400, 'INVALID_RECEIVER'];

describe('invoice', () => {
  it('is paid with its exact amount only', async () => {
    const from = await createPayer();
    const to = await registerInvoice(from, { invoice: createInvoice({ amountMsat: 49_999_001n }) });
    for (const [amount, overrides] of [
      [49_999, {}],
      [50_001, {}],
      [50_000, { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 60_000 }],
    ] as const) {
      const { status, body } = await requestQuote(from, to, amount, overrides);
      expect([status, body.code, body.details]).toEqual([
        400,
        'INVALID_AMOUNT',
        { receivingAmount: 50_000 },
      ]);
    }
    const transferAccounts = { source: { accountId: from.btc }, destination: { accountId: to } };
    const mismatchResponse = await app.call('POST', '/transfer-out', {
      ...transferAccounts,
      amount: 49_999,
    });
    expect(outcomeOf(mismatchResponse)).toEqual([400, 'INVALID_AMOUNT']);
    const { status, body } = await requestQuote(from, to);
    expect([status, body.totalReceivingAmount]).toEqual([201, 50_000]);
    // The network fee is ten satoshis. The received amount must match.
    const transferResponse = await app.call('POST', '/transfer-out', {
      ...transferAccounts,
      amount: 50_000,
    });
    expect(outcomeOf(transferResponse)).toEqual([400, 'INVALID_AMOUNT']);
    ok(await app.call('POST', '/transfer-out', { ...transferAccounts, amount: 50_010 }), 201);
  });

  it('without an amount accepts any amount', async () => {
    const from = await createPayer();
    const to = await registerInvoice(from, { invoice: DONATION_INVOICE });
    expect(outcomeOf(await requestQuote(from, to, 12_345))).toBe(201);
    expect(outcomeOf(await requestQuote(from, to, 54_321))).toBe(201);
  });

  it('is valid for one payment across owners', async () => {
    const invoice = createInvoice();
    const [from, otherPayer] = [await createPayer(), await createPayer({ platform: app.other })];
    const to = await registerInvoice(from, { invoice });
    const otherAccount = await registerInvoice(otherPayer, { invoice: invoice.toUpperCase() });
    const [firstResponse, secondResponse, otherPayerResponse] = [
      await requestQuote(from, to),
      await requestQuote(from, to),
      await requestQuote(otherPayer, otherAccount),
    ];
    const responses = await Promise.all([
      execute(from, firstResponse),
      execute(from, secondResponse),
      execute(otherPayer, otherPayerResponse),
    ]);
    const outcomes = responses.map(outcomeOf);
    expect(outcomes.filter((each) => each === 200)).toHaveLength(1);
    expect(outcomes.filter((each) => each !== 200)).toEqual([INVOICE_USED, INVOICE_USED]);
    expect(outcomeOf(await requestQuote(from, to))).toEqual(INVOICE_USED);
    expect(outcomeOf(await requestQuote(otherPayer, otherAccount))).toEqual(INVOICE_USED);
    await app.settle();
    const totals = await Promise.all(
      [from, otherPayer].map(
        async ({ btc, options }) => (await readBalances(app, btc, options)).total,
      ),
    );
    expect(totals.filter((total) => total < 1_000_000)).toHaveLength(1);
  });

  it('can be paid again after a failed payment', async () => {
    const from = await createPayer();
    const to = await registerInvoice(from, { invoice: FAILING_INVOICE });
    const [firstResponse, secondResponse] = [
      await requestQuote(from, to),
      await requestQuote(from, to),
    ];
    expect(outcomeOf(await execute(from, firstResponse))).toBe(200);
    expect(outcomeOf(await execute(from, secondResponse))).toEqual(INVOICE_USED);
    await app.settle();
    const { body } = await app.call('GET', `/transactions/${firstResponse.body.transactionId}`);
    expect(body.status).toBe('FAILED');
    expect(outcomeOf(await execute(from, secondResponse))).toBe(200);
    expect(outcomeOf(await requestQuote(from, to))).toEqual(INVOICE_USED);
  });

  it('is rejected at each step after expiry', async () => {
    const from = await createPayer();
    const invoice = createInvoice({ expirySeconds: 60 });
    const to = await registerInvoice(from, { invoice });
    const quoteResponse = await requestQuote(from, to);
    await app.advance(59_000);
    const secondResponse = await requestQuote(from, to);
    expect(outcomeOf(secondResponse)).toBe(201);
    await app.advance(1_000);
    expect(outcomeOf(await requestQuote(from, to))).toEqual([400, 'INVALID_RECEIVER']);
    expect(outcomeOf(await execute(from, quoteResponse))).toEqual([400, 'INVALID_RECEIVER']);
    const { status, body } = await register(await createPayer(), { invoice });
    expect([status, body.code, body.details.errors]).toMatchObject([
      400,
      'INVALID_INPUT',
      [{ field: 'accountInfo.invoice', message: expect.stringMatching(/^expired at /) }],
    ]);
  });

  it('must be valid and of the main network in production only', async () => {
    const add = async (text: string, platform = app.production) => {
      const body = { currency: 'BTC', accountInfo: { accountType: 'LIGHTNING', invoice: text } };
      const response = await app.call('POST', '/platform/external-accounts', body, {
        platform,
      });
      const fields = response.body.details?.errors?.map((each: { field: string }) => each.field);
      return fields ?? response.status;
    };
    const mainNetInvoice = createInvoice({ prefix: 'lnbc' });
    for (const invalidInvoice of [
      createInvoice(),
      `${mainNetInvoice.slice(0, -1)}b`,
      'lnbc500u1pjqqqqqqqqqqq',
    ]) {
      expect(await add(invalidInvoice)).toEqual(['accountInfo.invoice']);
    }
    expect(await add(mainNetInvoice)).toBe(201);
    for (const acceptedInvoice of [mainNetInvoice, createInvoice(), 'lnbc500u1pjqqqqqqqqqqq']) {
      expect(await add(acceptedInvoice, app.platform)).toBe(201);
    }
  });
});

it.each([
  { invoice: 'lnbcrt500u1pjqqqqqqqqqqq' },
  { bolt12: 'lno1qcp4256ypqpq' },
  { lightningAddress: 'amara@wallet.example' },
])(
  'a Lightning account without a decodable invoice accepts repeated payments: %j',
  async (details) => {
    const from = await createPayer();
    const to = await registerInvoice(from, details);
    for (const amount of [40_000, 50_000]) {
      expect(outcomeOf(await execute(from, await requestQuote(from, to, amount)))).toBe(200);
    }
  },
);
