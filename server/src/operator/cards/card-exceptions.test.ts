// Card payments that need a decision, and the effect of the commands on them.
import { beforeAll, describe, expect, it } from 'vitest';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

const listIds = async (...flags: string[]): Promise<string[]> =>
  (await runJson('cards', 'exceptions', ...flags)).map(
    (each: { transactionId: string }) => each.transactionId,
  );

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const refundOf = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;

/** A payment whose account could not pay 20 of 120. */
async function createException() {
  const payment = await fixture.startPayment({ funds: 110 });
  await payment.notify(clearingNotice(120));
  app.effects.set(app.effects.now() + 1_000);
  return payment;
}

describe('cards exceptions', () => {
  it('lists pending payments, oldest first, with the missing and the held amount', async () => {
    expect((await run('cards', 'exceptions')).out).toBe('None.\n');
    const [firstPayment, secondPayment] = [
      await createException(),
      await fixture.startPayment({ descriptor: 'Shop 006' }),
    ];
    expect(await runJson('cards', 'exceptions')).toEqual([
      {
        ...{ transactionId: firstPayment.id, platformId: app.platform.id, environment: 'sandbox' },
        ...{ since: expect.any(String), status: 'EXCEPTION', cardId: firstPayment.card.id },
        ...{
          accountId: firstPayment.accountId,
          merchant: 'Shop',
          settledAmount: 120,
          netAmount: 120,
        },
        ...{ missingAmount: 20, heldAmount: 0, currency: 'USD' },
        suspense: { amount: 0, currency: 'USD' },
      },
      expect.objectContaining({
        transactionId: secondPayment.id,
        missingAmount: 0,
        heldAmount: 100,
      }),
    ]);
    const { out } = await run('cards', 'exceptions');
    expect(out).toMatch(/^SINCE +TRANSACTION +STATUS +MISSING +HELD +SUSPENSE +MERCHANT\n/);
    expect(out).toMatch(/ EXCEPTION +0\.20 +0\.00 +0\.00 +Shop\n/);
    expect(await listIds('--limit', '1')).toEqual([firstPayment.id]);
    expect(await listIds('--platform', app.other.id)).toEqual([]);
    expect(await listIds('--platform', app.platform.id)).toEqual([
      firstPayment.id,
      secondPayment.id,
    ]);
    expect((await run('cards', 'exceptions', '--limit', '0')).code).toBe(2);
    expect((await run('cards', 'exceptions', '--platform', 'none')).code).toBe(1);
    for (const { id } of [firstPayment, secondPayment])
      await runJson(...['cards', 'resolve', id], ...COLLECT_FLAGS);
    expect(await listIds()).toEqual([]);
  });

  it('lists each refund for a closed account until it was sent', async () => {
    const payment = await fixture.startPayment({ funds: 100 });
    await payment.notify(clearingNotice(100));
    await fixture.closeAccount(payment.accountId);
    for (const [amount, reference] of [
      [40, 'WIRE-1'],
      [60, 'WIRE-2'],
    ] as const) {
      await payment.notify(refundOf(amount));
      const suspense = { amount, currency: 'USD' };
      expect(await runJson('cards', 'exceptions')).toMatchObject([
        { transactionId: payment.id, missingAmount: 0, suspense },
      ]);
      const [item] = await runJson('suspense', 'list');
      expect(item).toMatchObject({
        transactionId: payment.id,
        type: 'CARD',
        amount,
        to: 'outside',
      });
      const result = await run('suspense', 'return', payment.id);
      expect([result.code, result.err]).toEqual([
        1,
        expect.stringContaining('with the bank reference'),
      ]);
      await runJson('suspense', 'return', payment.id, '--reference', reference);
      expect(await listIds()).toEqual([]);
      const repeatedResult = await run('suspense', 'return', payment.id, '--reference', reference);
      expect([repeatedResult.code, repeatedResult.err]).toEqual([
        1,
        'The transaction has no funds in suspense.\n',
      ]);
    }
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '0 of 0' });
    // A refund that was sent and is reversed by the network is missing until it is resolved.
    await payment.notify({ kind: 'RETURN_REVERSAL' });
    expect(await runJson('suspense', 'list')).toMatchObject([{ amount: -60, to: null }]);
    await runJson('suspense', 'settle', payment.id, '--reference', 'WIRE-3');
    expect(await listIds()).toEqual([]);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '0 of 0',
      settled: 60,
    });
  });
});

const COLLECT_FLAGS = ['--outcome', 'collect'];

describe('cards resolve', () => {
  it.each([
    [120, 'REFUNDED', 0],
    [110, 'SETTLED', 10],
    [10, 'SETTLED', 20],
  ])(
    'writes off only the amount that is not refunded: %i refunded',
    async (refundedAmount, status, writtenOffAmount) => {
      const payment = await createException();
      await payment.notify(refundOf(refundedAmount));
      const resolvedOutput = await runJson(
        'cards',
        'resolve',
        payment.id,
        '--outcome',
        'write-off',
      );
      expect(resolvedOutput).toMatchObject({ status, writtenOffAmount });
    },
  );

  it('collects or writes off the missing amount, once', async () => {
    const firstPayment = await createException();
    const collectedOutput = await runJson(
      'cards',
      'resolve',
      firstPayment.id,
      ...COLLECT_FLAGS,
      '--reason',
      'Agreed',
    );
    expect(collectedOutput).toEqual({
      ...{
        transactionId: firstPayment.id,
        status: 'SETTLED',
        writtenOffAmount: 0,
        currency: 'USD',
      },
    });
    expect(await firstPayment.readState()).toMatchObject({ account: '0 of 0', settled: 120 });
    const secondPayment = await createException();
    const { out } = await run('cards', 'resolve', secondPayment.id, '--outcome', 'write-off');
    expect(out).toBe(`${secondPayment.id} is SETTLED, 0.20 USD written off.\n`);
    expect(await secondPayment.readState()).toMatchObject({
      status: 'SETTLED',
      account: '10 of 10',
    });
    const repeatedResult = await run('cards', 'resolve', secondPayment.id, ...COLLECT_FLAGS);
    expect([repeatedResult.code, repeatedResult.err]).toEqual([
      1,
      'The payment is SETTLED. Only a payment in EXCEPTION can be resolved.\n',
    ]);
  });

  it('accepts only card payments and two outcomes', async () => {
    const payment = await createException();
    expect((await run('cards', 'resolve', payment.id)).code).toBe(2);
    expect((await run('cards', 'resolve', payment.id, '--outcome', 'forget')).code).toBe(2);
    expect((await run('cards', 'resolve', 'CardTransaction:x', ...COLLECT_FLAGS)).code).toBe(1);
    const [deposit] = (await app.call('GET', '/transactions?type=INCOMING&limit=1')).body.data;
    const rejectedResult = await run('cards', 'resolve', deposit.id, ...COLLECT_FLAGS);
    expect([rejectedResult.code, rejectedResult.err]).toEqual([1, 'Card payment not found.\n']);
    expect((await payment.readState()).status).toBe('EXCEPTION');
  });
});
