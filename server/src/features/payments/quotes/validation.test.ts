// Payouts to a bank account that micro-entries validate: every operation that pays out says whether to
// wait or to give up, before and after the price was made.
import { describe, expect, it } from 'vitest';
import {
  externalAccount,
  fundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { Answer } from '../../../../test/kit/app/harness.ts';
import { commandOn } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const told = ({ status, body, headers }: Answer) => [
  status,
  body.code,
  headers['x-should-retry'] ?? null,
];

async function verb(name: string, id: string): Promise<void> {
  const { code, err } = await commandOn(app)([
    ...['external-accounts', name, id, '--reason', 'Micro-entries'],
  ]);
  expect([code, err]).toEqual([0, '']);
}

/** A funded customer, an account to pay to, and everything that pays out to it. */
async function payer(currency = 'USD') {
  const { person, account } = await fundedCustomer(app, 500_00);
  const { id } = await externalAccount(app, person.id, currency);
  const body = quoteBody(account.id, id, 10_00);
  const ready = ok(await app.call('POST', '/quotes', body), 201);
  const transfer = { source: { accountId: account.id }, destination: { accountId: id } };
  const key = { headers: { 'idempotency-key': `execute ${ready.id}` } };
  return {
    id: id as string,
    create: () => app.call('POST', '/quotes', body),
    immediate: () => app.call('POST', '/quotes', { ...body, immediatelyExecute: true }),
    /** Always under one idempotency key. */
    execute: () => app.call('POST', `/quotes/${ready.id}/execute`, undefined, key),
    transfer: () => app.call('POST', '/transfer-out', { ...transfer, amount: 10_00 }),
  };
}

describe('a payout to a US bank account', () => {
  it('is 409 while the account is being validated, and passes afterwards', async () => {
    const { id, create, immediate, execute, transfer } = await payer();
    await verb('check', id);
    for (const pay of [create, immediate, execute, transfer]) {
      expect(told(await pay())).toEqual([409, 'BANK_ACCOUNT_VALIDATION_PENDING', 'true']);
    }
    await verb('clear', id);
    ok(await create(), 201);
    ok(await execute(), 200);
    ok(await transfer(), 201);
    await app.settle();
  });

  it('is 400 after the validation has failed', async () => {
    const { id, create, immediate, execute, transfer } = await payer();
    await verb('check', id);
    await verb('refuse', id);
    for (const pay of [create, immediate, execute, transfer]) {
      expect(told(await pay())).toEqual([400, 'INVALID_BANK_ACCOUNT', null]);
    }
  });
});

describe('a payout to a bank account elsewhere', () => {
  it('is INVALID_RECEIVER while the account cannot be used', async () => {
    const { id, create, execute } = await payer('EUR');
    await verb('check', id);
    for (const pay of [create, execute]) {
      expect(told(await pay())).toEqual([400, 'INVALID_RECEIVER', null]);
    }
  });
});
