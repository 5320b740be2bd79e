// Network messages that the sandbox rejects: notices that the state of the payment does not permit,
// notices about payments of other cards, and invalid bodies. A repeated request has one effect.
import { beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { openForFile } from '../kit/app/test-app.ts';
import {
  NOTICES,
  type NoticeKind,
  notice,
  openCardScenarios,
  REQUEST_KINDS,
  requests,
  type Step,
} from '../kit/cards/card-scenario.ts';
import { expectedOf } from '../kit/payments/sandbox-outcomes.ts';

const fixture = openForFile(openCardScenarios);
beforeEach(() => fixture.app.advance(7 * 60_000));

/** The steps to a state of a payment, and the notices that this state accepts. */
interface PaymentState {
  steps: readonly Step[];
  status: string;
  accepts: readonly NoticeKind[];
  /** Notices that are rejected for their amount. All others are rejected for their payment. */
  amount?: readonly NoticeKind[];
}

const authorizationStep = requests('authorization', 40);
const clearingStep = notice('clearing', 40);
const PAYMENT_STATES: Readonly<Record<string, PaymentState>> = {
  'is authorized': {
    steps: [authorizationStep],
    status: 'AUTHORIZED',
    accepts: ['authorization_advice', 'clearing'],
  },
  'is partly cleared': {
    steps: [authorizationStep, notice('clearing', 30)],
    status: 'PARTIALLY_SETTLED',
    accepts: ['authorization_advice', 'clearing', 'return'],
  },
  'is settled': {
    steps: [authorizationStep, clearingStep],
    status: 'SETTLED',
    accepts: ['return'],
  },
  'is settled without a clearing': {
    steps: [authorizationStep, notice('clearing', 0)],
    status: 'SETTLED',
    accepts: [],
  },
  'is refunded': {
    steps: [authorizationStep, clearingStep, notice('return', 40)],
    status: 'REFUNDED',
    accepts: ['return_reversal'],
    amount: ['return'],
  },
  'is an exception': {
    steps: [requests('authorization', 40, '006')],
    status: 'EXCEPTION',
    accepts: [],
  },
  'is an exception after a clearing': {
    steps: [requests('financial_authorization', 40, '006')],
    status: 'EXCEPTION',
    accepts: ['return'],
  },
  'is an authorized credit': {
    steps: [requests('credit_authorization', 40)],
    status: 'AUTHORIZED',
    accepts: ['clearing'],
  },
  'is a settled credit': {
    steps: [requests('financial_credit_authorization', 40)],
    status: 'SETTLED',
    accepts: [],
  },
};

const fieldsOf = ({ status, body }: ApiResponse) => [
  ...[status, body.code],
  ...(body.details?.errors ?? []).map(({ field }: { field: string }) => field).sort(),
];

describe('a payment', () => {
  const cases = Object.keys(PAYMENT_STATES).flatMap((name) =>
    NOTICES.map((kind) => [name, kind] as const),
  );
  it.each(cases)('that %s accepts or rejects %s as its state requires', async (name, kind) => {
    const { steps, status, accepts, amount = [] } = expectedOf(PAYMENT_STATES, name);
    const scenario = await fixture.begin();
    for (const step of steps) {
      await step(scenario);
      await scenario.next();
    }
    const paymentBefore = await scenario.payment();
    expect(paymentBefore.status).toBe(status);
    const response = await scenario.send(kind, kind === 'return_reversal' ? undefined : 20);
    if (accepts.includes(kind)) {
      ok(response, 202);
      expect((await scenario.next()).length).toBeGreaterThan(0);
      return;
    }
    const field = amount.includes(kind) ? 'amount' : 'cardTransactionId';
    expect(fieldsOf(response)).toEqual([400, 'INVALID_INPUT', field]);
    expect(await scenario.next()).toEqual([]);
    expect(await scenario.payment()).toEqual(paymentBefore);
  });

  it('cannot be refunded above the cleared amount less earlier refunds', async () => {
    const scenario = await fixture.begin();
    for (const step of [authorizationStep, clearingStep, notice('return', 10)])
      await step(scenario);
    const { id: cardTransactionId } = await scenario.payment();
    const sendReturn = (amount: number) =>
      scenario.simulate('return', { cardTransactionId, amount });
    expect(fieldsOf(await sendReturn(30_01))).toEqual([400, 'INVALID_INPUT', 'amount']);
    ok(await sendReturn(29_99), 202);
    expect(fieldsOf(await sendReturn(2))).toEqual([400, 'INVALID_INPUT', 'amount']);
    ok(await sendReturn(1), 202);
    expect((await scenario.payment()).status).toBe('REFUNDED');
  });
});

const REQUESTS = [
  ['sandboxSimulateCardAuthorization', 'authorization'],
  ['sandboxSimulateCardFinancialAuthorization', 'financial_authorization'],
  ['sandboxSimulateCardCreditAuthorization', 'credit_authorization'],
  ['sandboxSimulateCardFinancialCreditAuthorization', 'financial_credit_authorization'],
  ['sandboxSimulateCardCreditAuthorizationAdvice', 'credit_authorization_advice'],
] as const;
const NOTICE_OPERATIONS = [
  ['sandboxSimulateCardAuthorizationAdvice', 'authorization_advice'],
  ['sandboxSimulateCardClearing', 'clearing'],
  ['sandboxSimulateCardReturn', 'return'],
  ['sandboxSimulateCardReturnReversal', 'return_reversal'],
] as const;

describe('a simulated message', () => {
  const merchant = { descriptor: 'SHOP 000', mcc: '5411', country: 'US' };
  const body = { amount: 40_00, currency: { code: 'USD' }, merchant };

  it('requires a payment with this card', async () => {
    const [scenario, otherScenario] = [await fixture.begin(), await fixture.begin()];
    await scenario.request('authorization', 40);
    await otherScenario.request('authorization', 40);
    const { id } = await otherScenario.payment();
    const { call } = fixture.cards;
    const [deposit] = ok(
      await call('GET', `/transactions?customerId=${scenario.customer.id}`),
      200,
    ).data.filter((transaction: { type: string }) => transaction.type === 'INCOMING');
    const unknownId = id.replace(/.$/, (lastDigit: string) => (lastDigit === '0' ? '1' : '0'));
    for (const cardTransactionId of [id, unknownId, deposit.id, 'x']) {
      for (const kind of NOTICES) {
        const response = await scenario.simulate(kind, { cardTransactionId, amount: 1_00 });
        expect([response.status, response.body.code]).toEqual([404, 'TRANSACTION_NOT_FOUND']);
      }
    }
    expect((await otherScenario.payment()).status).toBe('AUTHORIZED');
  });

  it('is rejected with all invalid fields', async () => {
    const scenario = await fixture.begin();
    const invalidBody = { amount: 0, currency: { code: 'EUR' }, merchant: { country: 'US' } };
    const oversizedBody = {
      ...body,
      merchant: { descriptor: 'x'.repeat(256), mcc: '1'.repeat(11) },
    };
    const hugeBody = { ...body, amount: 100_000_000_001 };
    for (const kind of REQUEST_KINDS) {
      const amountFields = kind === 'balance_inquiry' ? [] : ['amount', 'currency.code'];
      expect(fieldsOf(await scenario.simulate(kind, invalidBody))).toEqual([
        ...[400, 'INVALID_INPUT', ...amountFields, 'merchant.descriptor'],
      ]);
      expect(fieldsOf(await scenario.simulate(kind, oversizedBody))).toEqual([
        ...[400, 'INVALID_INPUT', 'merchant.descriptor', 'merchant.mcc'],
      ]);
      if (kind === 'balance_inquiry') continue;
      expect(fieldsOf(await scenario.simulate(kind, hugeBody))).toEqual([
        400,
        'INVALID_INPUT',
        'amount',
      ]);
    }
    expect(await scenario.next()).toEqual([]);
    expect(await scenario.payments()).toEqual([]);
  });

  it('has by default the currency of the card, and the merchant of the request', async () => {
    const scenario = await fixture.begin();
    const requestBody = { ...body, currency: {}, merchant: { ...merchant, note: 'not kept' } };
    ok(await scenario.simulate('authorization', requestBody), 202);
    const payment = await scenario.payment();
    expect(payment.authorizedAmount).toMatchObject({ amount: 40_00, currency: { code: 'USD' } });
    expect(payment.merchant).toEqual(merchant);
  });

  describe.each(REQUESTS)('%s', (_operation, operation) => {
    it('has one effect for an idempotency key', async () => {
      const scenario = await fixture.begin();
      const key = { 'idempotency-key': `request ${operation}` };
      const firstReply = ok(await scenario.simulate(operation, body, key), 202);
      expect(ok(await scenario.simulate(operation, body, key), 202)).toEqual(firstReply);
      expect((await scenario.payment()).issuerTransactionToken).toBe(
        firstReply.issuerTransactionToken,
      );
      const otherResponse = await scenario.simulate(operation, { ...body, amount: 41_00 }, key);
      expect([otherResponse.status, otherResponse.body.code]).toEqual([
        409,
        'DUPLICATE_PAY_REQUEST',
      ]);
    });
  });

  const NOTICE_RESULTS: Readonly<Record<NoticeKind, { steps: readonly Step[]; expected: object }>> =
    {
      authorization_advice: {
        steps: [authorizationStep],
        expected: { authorizedAmount: { amount: 20_00 } },
      },
      clearing: { steps: [authorizationStep], expected: { settledAmount: { amount: 20_00 } } },
      return: {
        steps: [authorizationStep, clearingStep],
        expected: { refundedAmount: { amount: 20_00 } },
      },
      return_reversal: {
        steps: [authorizationStep, clearingStep, notice('return', 40)],
        expected: { status: 'SETTLED' },
      },
    };
  describe.each(NOTICE_OPERATIONS)('%s', (_operation, operation) => {
    it('has one effect for an idempotency key', async () => {
      const { steps, expected } = NOTICE_RESULTS[operation];
      const scenario = await fixture.begin();
      for (const step of steps) await step(scenario);
      const { id: cardTransactionId } = await scenario.payment();
      const input = {
        cardTransactionId,
        ...(operation === 'return_reversal' ? {} : { amount: 20_00 }),
      };
      const key = { 'idempotency-key': `notice ${operation}` };
      const firstReply = ok(await scenario.simulate(operation, input, key), 202);
      expect(ok(await scenario.simulate(operation, input, key), 202)).toEqual(firstReply);
      expect(await scenario.payment()).toMatchObject(expected);
      const otherResponse = await scenario.simulate(operation, { ...input, more: 1 }, key);
      expect([otherResponse.status, otherResponse.body.code]).toEqual([
        409,
        'DUPLICATE_PAY_REQUEST',
      ]);
    });
  });

  describe('sandboxSimulateCardBalanceInquiry', () => {
    it('returns a reference that differs from the references of authorizations', async () => {
      const scenario = await fixture.begin();
      const tokens = [
        await scenario.request('authorization', 1),
        await scenario.request('authorization', 1),
        await scenario.request('authorization', 1, '002'),
        await scenario.request('balance_inquiry'),
      ];
      expect(new Set(tokens).size).toBe(4);
      const references = (await scenario.payments()).map(
        (payment) => payment.issuerTransactionToken,
      );
      expect(references).toEqual(tokens.slice(0, 2));
    });
  });
});
