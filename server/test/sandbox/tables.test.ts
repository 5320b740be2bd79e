// Every row of the sandbox's tables of quotes and transfers, in every context to which it applies.
// The test compares the outcome of a payment, its refund, the balances and all webhooks in order.
// The rows are the data of the sandbox, so a row without an expectation here fails.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  QUOTE_OUTCOMES,
  TRANSFER_OUTCOMES,
} from '../../src/connectors/sandbox/payments/outcomes.ts';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import {
  ACCOUNT_METHODS,
  expectedOf,
  expectWebhooks,
  INITIAL_AMOUNT,
  type MethodName,
  type ObservedAccount,
  observePayment,
  openSandboxFixture,
  payeeOf,
  payerOf,
  type Row,
  registerAccount,
  SENT_AMOUNT,
} from '../kit/payments/sandbox-outcomes.ts';

const fixture = openForFile(openSandboxFixture);
beforeEach(() => fixture.drain());

/** Represents all suffixes that no table names. */
const OTHER_SUFFIX = '000';
const addOtherSuffix = (...tables: object[]) =>
  [...new Set([...tables.flatMap(Object.keys), OTHER_SUFFIX])].sort();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The platform fee of a payment. */
const FEE = 50 + (SENT_AMOUNT * 30) / 10_000;

/** A customer with funds, and an external account with the suffix. */
async function createPayingCustomer(currency: string, method: MethodName, suffix: string) {
  const { app } = fixture;
  const person = await createCustomer(app);
  const account = await findInternalAccount(app, person.id, currency);
  const target = ok(await registerAccount(fixture, person.id, method, suffix), 201);
  await fundAccount(app, account.id, INITIAL_AMOUNT);
  return { person, account, target, observedAccount: payerOf(account) };
}

/** The platform's fee account, relative to its balance after earlier rows. */
async function readFeeAccount(): Promise<ObservedAccount> {
  const { id } = await findInternalAccount(fixture.app, null, 'USD');
  const { total } = await readBalances(fixture.app, id);
  return {
    id,
    name: 'platform',
    labels: [
      [total, 'none'],
      [total + FEE, 'fee'],
    ],
  };
}

/** Fees of quotes from USD. */
const fees = {
  platformFeeOverride: {
    platformFixedFee: { amount: 50, currency: 'USD' },
    platformVariableFeeBps: 30,
  },
};

const terms = { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: SENT_AMOUNT };

const STARTED_EVENTS = ['PENDING', 'payer remaining/initial', 'PROCESSING'];
const SUBMITTED_EVENTS = ['payer remaining/remaining', 'platform fee/fee'];
const FAILED_EVENTS = ['FAILED', 'REFUND_PENDING FAILED/PENDING'];
const RETURNED_BALANCES = ['payer initial/initial', 'platform none/none'];
const REFUNDED_EVENT = 'REFUND_COMPLETED FAILED/COMPLETED';

const failedOutcome = (failureReason: string, quote?: string) => ({
  status: 'FAILED',
  failureReason,
  refund: ['COMPLETED', 'TRANSACTION_FAILED'] as const,
  ...(quote ? { quote } : {}),
});

const ARRIVED_ROW: Row = {
  immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS, 'COMPLETED'],
  end: { status: 'COMPLETED', quote: 'COMPLETED' },
};

const QUOTES: Readonly<Record<string, Row>> = {
  [OTHER_SUFFIX]: ARRIVED_ROW,
  '002': {
    immediateEvents: [...STARTED_EVENTS, ...FAILED_EVENTS, 'payer initial/initial', REFUNDED_EVENT],
    end: failedOutcome('QUOTE_EXECUTION_FAILED', 'FAILED'),
  },
  '003': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS],
    laterEvents: { afterMs: 6 * MINUTE, status: 'PROCESSING', events: ['COMPLETED'] },
    end: { status: 'COMPLETED', quote: 'COMPLETED' },
  },
  '004': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS],
    laterEvents: {
      afterMs: 2 * SECOND,
      status: 'PROCESSING',
      events: [...FAILED_EVENTS, ...RETURNED_BALANCES, REFUNDED_EVENT],
    },
    end: failedOutcome('COUNTERPARTY_POST_TX_FAILED', 'FAILED'),
  },
  '005': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS, 'COMPLETED'],
    laterEvents: {
      afterMs: 10 * SECOND,
      status: 'COMPLETED',
      events: [...FAILED_EVENTS, ...RETURNED_BALANCES, REFUNDED_EVENT],
    },
    end: failedOutcome('PAYOUT_RETURNED', 'COMPLETED'),
  },
  '008': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS, 'COMPLETED'],
    laterEvents: {
      afterMs: 48 * 60 * MINUTE,
      status: 'COMPLETED',
      events: [...FAILED_EVENTS, ...RETURNED_BALANCES, REFUNDED_EVENT],
    },
    end: failedOutcome('PAYOUT_RETURNED', 'COMPLETED'),
  },
  '006': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS],
    laterEvents: {
      afterMs: 2 * SECOND,
      status: 'PROCESSING',
      events: [
        'REFUND_PENDING PROCESSING/PENDING',
        ...RETURNED_BALANCES,
        'REFUND_COMPLETED PROCESSING/COMPLETED',
        'COMPLETED COMPLETED/COMPLETED',
      ],
    },
    end: {
      status: 'COMPLETED',
      refund: ['COMPLETED', 'USER_CANCELLATION'],
      quote: 'COMPLETED',
    },
  },
  '007': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS],
    laterEvents: {
      afterMs: 2 * SECOND,
      status: 'PROCESSING',
      events: [...FAILED_EVENTS, 'platform none/none', 'REFUND_FAILED FAILED/FAILED'],
    },
    end: {
      status: 'FAILED',
      failureReason: 'COUNTERPARTY_POST_TX_FAILED',
      refund: ['FAILED', 'TRANSACTION_FAILED'],
      quote: 'FAILED',
    },
  },
};

describe('the table of quotes', () => {
  it('has the expected rows', () => {
    expect(Object.keys(QUOTES).sort()).toEqual(addOtherSuffix(QUOTE_OUTCOMES));
  });

  const CONTEXTS: readonly [from: string, method: MethodName][] = [
    ['USD', 'EUR by IBAN'],
    ['USD', 'USD'],
    ['EUR', 'INR by VPA'],
    ['USDC', 'USDC on Base'],
    ['BTC', 'BTC on Spark'],
  ];
  const rows = addOtherSuffix(QUOTE_OUTCOMES).flatMap((suffix) =>
    CONTEXTS.map(([from, method]) => [suffix, from, method] as const),
  );
  it.each(rows)('applies to the suffix %s, from %s to %s', async (suffix, from, method) => {
    const { app } = fixture;
    const { account, target, observedAccount } = await createPayingCustomer(from, method, suffix);
    const quote = ok(
      await app.call('POST', '/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: account.id },
        destination: { destinationType: 'ACCOUNT', accountId: target.id },
        purposeOfPayment: 'GIFT',
        ...terms,
        ...(from === 'USD' ? fees : {}),
      }),
      201,
    );
    const accounts = [observedAccount, ...(from === 'USD' ? [await readFeeAccount()] : [])];
    const id = quote.transactionId as string;
    const scenario = await observePayment(fixture, () => id, accounts);
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    const payment = { id, quoteId: quote.id, accounts, scenario };
    await expectWebhooks(fixture, payment, expectedOf(QUOTES, suffix));
  });

  const fundedCases = addOtherSuffix(QUOTE_OUTCOMES).flatMap((suffix) =>
    (['paid in', 'debited'] as const).map((funding) => [suffix, funding] as const),
  );
  it.each(fundedCases)(
    'applies to the suffix %s, with funds %s for the quote',
    async (suffix, funding) => {
      const { app } = fixture;
      const person = await createCustomer(app);
      const ownInternalAccount = await findInternalAccount(app, person.id, 'USD');
      const target = ok(await registerAccount(fixture, person.id, 'MXN by CLABE', suffix), 201);
      const externalAccount = ok(
        await registerAccount(fixture, person.id, 'USD', OTHER_SUFFIX),
        201,
      );
      const source =
        funding === 'debited'
          ? { sourceType: 'ACCOUNT', accountId: externalAccount.id }
          : { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
      const destination = { destinationType: 'ACCOUNT', accountId: target.id };
      const quote = ok(
        await app.call('POST', '/quotes', { source, destination, ...terms, ...fees }),
        201,
      );
      // External funds are returned externally, so the customer's own account has no postings.
      const otherAccount: ObservedAccount = {
        id: ownInternalAccount.id,
        name: 'customer',
        labels: [[0, 'none']],
      };
      const accounts = [await readFeeAccount(), otherAccount];
      const id = quote.transactionId as string;
      const scenario = await observePayment(fixture, () => id, accounts);
      const startReply =
        funding === 'debited'
          ? app.call('POST', `/quotes/${quote.id}/execute`)
          : app.call('POST', '/sandbox/send', { quoteId: quote.id, currencyCode: 'USD' });
      ok(await startReply, 200);
      const payment = { id, quoteId: quote.id, accounts, scenario };
      await expectWebhooks(fixture, payment, expectedOf(QUOTES, suffix));
    },
  );
});

const REJECTED_EVENTS = [
  ...STARTED_EVENTS,
  ...FAILED_EVENTS,
  'payer initial/initial',
  REFUNDED_EVENT,
];

const PAYOUTS: Readonly<Record<string, Row>> = {
  [OTHER_SUFFIX]: ARRIVED_ROW,
  '002': { immediateEvents: REJECTED_EVENTS, end: failedOutcome('QUOTE_EXECUTION_FAILED') },
  '003': { immediateEvents: REJECTED_EVENTS, end: failedOutcome('ACCOUNT_INVALID') },
  '004': { immediateEvents: REJECTED_EVENTS, end: failedOutcome('ACCOUNT_CANNOT_RECEIVE') },
  '005': {
    immediateEvents: [...STARTED_EVENTS, ...SUBMITTED_EVENTS],
    laterEvents: {
      afterMs: 30 * SECOND,
      status: 'PROCESSING',
      events: [...FAILED_EVENTS, ...RETURNED_BALANCES, REFUNDED_EVENT],
    },
    end: failedOutcome('PAYOUT_RETURNED'),
  },
  '006': ARRIVED_ROW,
  '007': ARRIVED_ROW,
  '008': ARRIVED_ROW,
};

const NOT_COLLECTED_ROW: Row = {
  immediateEvents: ['PENDING', 'FAILED'],
  end: { status: 'FAILED', failureReason: 'COLLECTION_FAILED' },
};

const COLLECTED_ROW: Row = {
  immediateEvents: ['PENDING', 'COMPLETED', 'payee received/received'],
  end: { status: 'COMPLETED' },
};

const DEBITS: Readonly<Record<string, Row>> = {
  [OTHER_SUFFIX]: COLLECTED_ROW,
  '002': NOT_COLLECTED_ROW,
  '003': NOT_COLLECTED_ROW,
  '004': NOT_COLLECTED_ROW,
  '005': {
    immediateEvents: ['PENDING', 'payee none/received'],
    laterEvents: {
      afterMs: 30 * SECOND,
      status: 'PROCESSING',
      events: ['FAILED', 'payee none/none'],
    },
    end: NOT_COLLECTED_ROW.end,
  },
  '006': COLLECTED_ROW,
  '007': COLLECTED_ROW,
  '008': COLLECTED_ROW,
};

/** A failed debit collects no funds, so there is no refund. */
const failedDebitRow = (failureReason: string): Row => ({
  immediateEvents: ['PENDING', 'PROCESSING', 'FAILED'],
  end: { status: 'FAILED', failureReason, quote: 'FAILED' },
});

const DEBITED_AND_PAID_ROW: Row = {
  immediateEvents: ['PENDING', 'PROCESSING', 'platform fee/fee', 'COMPLETED'],
  end: ARRIVED_ROW.end,
};

const DEBIT_FUNDED_QUOTES: Readonly<Record<string, Row>> = {
  [OTHER_SUFFIX]: DEBITED_AND_PAID_ROW,
  '002': failedDebitRow('QUOTE_EXECUTION_FAILED'),
  '003': failedDebitRow('ACCOUNT_INVALID'),
  '004': failedDebitRow('ACCOUNT_CANNOT_RECEIVE'),
  '005': {
    immediateEvents: ['PENDING', 'PROCESSING'],
    laterEvents: { afterMs: 30 * SECOND, status: 'PROCESSING', events: ['FAILED'] },
    end: failedDebitRow('PAYOUT_RETURNED').end,
  },
  '006': DEBITED_AND_PAID_ROW,
  '007': DEBITED_AND_PAID_ROW,
  '008': DEBITED_AND_PAID_ROW,
};

describe('the table of transfers', () => {
  // Suffixes with a meaning for quotes only are included to show that transfers ignore them.
  const suffixes = addOtherSuffix(TRANSFER_OUTCOMES, QUOTE_OUTCOMES);

  it('has the expected rows for each kind of transfer', () => {
    for (const rows of [PAYOUTS, DEBITS, DEBIT_FUNDED_QUOTES]) {
      expect(Object.keys(rows).sort()).toEqual(suffixes);
    }
  });

  const payouts = suffixes.flatMap((suffix) =>
    (Object.keys(ACCOUNT_METHODS) as MethodName[]).map((method) => [suffix, method] as const),
  );
  it.each(payouts)('applies to the suffix %s of a payout: %s', async (suffix, method) => {
    const { app } = fixture;
    const { account, target, observedAccount } = await createPayingCustomer(
      ACCOUNT_METHODS[method].currency,
      method,
      suffix,
    );
    let id = '';
    const scenario = await observePayment(fixture, () => id, [observedAccount]);
    const body = {
      source: { accountId: account.id },
      destination: { accountId: target.id },
      amount: SENT_AMOUNT,
      purposeOfPayment: 'GIFT',
    };
    ({ id } = ok(await app.call('POST', '/transfer-out', body), 201));
    await expectWebhooks(
      fixture,
      { id, accounts: [observedAccount], scenario },
      expectedOf(PAYOUTS, suffix),
    );
  });

  it.each(suffixes)(
    'applies to the suffix %s of an account that a transfer debits',
    async (suffix) => {
      const { app } = fixture;
      const person = await createCustomer(app);
      const account = await findInternalAccount(app, person.id, 'USD');
      const source = ok(await registerAccount(fixture, person.id, 'USD', suffix), 201);
      const observedAccount = payeeOf(account);
      let id = '';
      const scenario = await observePayment(fixture, () => id, [observedAccount]);
      const body = {
        source: { accountId: source.id },
        destination: { accountId: account.id },
        amount: SENT_AMOUNT,
      };
      ({ id } = ok(await app.call('POST', '/transfer-in', body), 201));
      await expectWebhooks(
        fixture,
        { id, accounts: [observedAccount], scenario },
        expectedOf(DEBITS, suffix),
      );
    },
  );

  it.each(suffixes)(
    'applies to the suffix %s of an account that a quote debits',
    async (suffix) => {
      const { app } = fixture;
      const person = await createCustomer(app);
      const source = ok(await registerAccount(fixture, person.id, 'USD', suffix), 201);
      const target = ok(
        await registerAccount(fixture, person.id, 'MXN by CLABE', OTHER_SUFFIX),
        201,
      );
      const quote = ok(
        await app.call('POST', '/quotes', {
          source: { sourceType: 'ACCOUNT', accountId: source.id },
          destination: { destinationType: 'ACCOUNT', accountId: target.id },
          ...terms,
          ...fees,
        }),
        201,
      );
      const accounts = [await readFeeAccount()];
      const id = quote.transactionId as string;
      const scenario = await observePayment(fixture, () => id, accounts);
      ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
      await expectWebhooks(
        fixture,
        { id, quoteId: quote.id, accounts, scenario },
        expectedOf(DEBIT_FUNDED_QUOTES, suffix),
      );
    },
  );
});
