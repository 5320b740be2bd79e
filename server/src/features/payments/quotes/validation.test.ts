// Payouts to a bank account during its validation by micro-entries. Every payout operation reports
// whether a retry is useful, before and after pricing.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const errorOf = ({ status, body, headers }: ApiResponse) => [
  status,
  body.code,
  headers['x-should-retry'] ?? null,
];

async function runAccountCommand(name: string, id: string): Promise<void> {
  const { code, err } = await commandRunner(app)([
    ...['external-accounts', name, id, '--reason', 'Micro-entries'],
  ]);
  expect([code, err]).toEqual([0, '']);
}

/** A funded customer, a receiving account, and every operation that pays it. */
async function createPayer(currency = 'USD') {
  const { person, account } = await createFundedCustomer(app, 500_00);
  const { id } = await createExternalAccount(app, person.id, currency);
  const body = quoteBody(account.id, id, 10_00);
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  const transferAccounts = { source: { accountId: account.id }, destination: { accountId: id } };
  const keyOptions = { headers: { 'idempotency-key': `execute ${quote.id}` } };
  return {
    id: id as string,
    create: () => app.call('POST', '/quotes', body),
    createImmediate: () => app.call('POST', '/quotes', { ...body, immediatelyExecute: true }),
    /** All requests have the same idempotency key. */
    execute: () => app.call('POST', `/quotes/${quote.id}/execute`, undefined, keyOptions),
    transfer: () => app.call('POST', '/transfer-out', { ...transferAccounts, amount: 10_00 }),
  };
}

describe('payout to a US bank account', () => {
  it('returns 409 during the validation and is accepted afterwards', async () => {
    const { id, create, createImmediate, execute, transfer } = await createPayer();
    await runAccountCommand('check', id);
    for (const pay of [create, createImmediate, execute, transfer]) {
      expect(errorOf(await pay())).toEqual([409, 'BANK_ACCOUNT_VALIDATION_PENDING', 'true']);
    }
    await runAccountCommand('clear', id);
    ok(await create(), 201);
    ok(await execute(), 200);
    ok(await transfer(), 201);
    await app.settle();
  });

  it('returns 400 after a failed validation', async () => {
    const { id, create, createImmediate, execute, transfer } = await createPayer();
    await runAccountCommand('check', id);
    await runAccountCommand('reject', id);
    for (const pay of [create, createImmediate, execute, transfer]) {
      expect(errorOf(await pay())).toEqual([400, 'INVALID_BANK_ACCOUNT', null]);
    }
  });
});

describe('payout to another bank account', () => {
  it('returns INVALID_RECEIVER during the validation', async () => {
    const { id, create, execute } = await createPayer('EUR');
    await runAccountCommand('check', id);
    for (const pay of [create, execute]) {
      expect(errorOf(await pay())).toEqual([400, 'INVALID_RECEIVER', null]);
    }
  });
});
