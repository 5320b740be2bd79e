// The operator's verbs on external accounts: their effects, the platform's events, and the error
// codes of its requests afterwards.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';

const service = openForFile(startProduction);

const runVerb = (name: string, id: string, ...flags: string[]) =>
  service.runJson('external-accounts', name, id, ...flags);

const readEmittedStatuses = async (id: string) =>
  (await service.app.events())
    .filter((each) => each.subject === id && each.type === 'EXTERNAL_ACCOUNT.STATUS_UPDATED')
    .map((each) => each.data.status);

describe('the external-accounts verbs', () => {
  it('apply every result of a check to a bank account', async () => {
    const { account, person } = await createFundedCustomer(service.app);
    const { id } = await createExternalAccount(service.app, person.id, 'USD');
    const createDebit = async () => {
      const parties = { source: { accountId: id }, destination: { accountId: account.id } };
      const reply = await service.app.call('POST', '/transfer-in', { ...parties, amount: 1_00 });
      return reply.body.code ?? reply.status;
    };
    const requestQuote = async () => {
      const reply = await service.app.call('POST', '/quotes', quoteBody(account.id, id, 1_00));
      return reply.body.code ?? reply.status;
    };
    expect(await runVerb('check', id)).toMatchObject({ accountId: id, status: 'PENDING' });
    expect(await createDebit()).toBe('BANK_ACCOUNT_VALIDATION_PENDING');
    expect(await requestQuote()).toBe('BANK_ACCOUNT_VALIDATION_PENDING');
    expect(await runVerb('review', id)).toMatchObject({ status: 'UNDER_REVIEW' });
    expect([await createDebit(), await requestQuote()]).toEqual([
      'INVALID_INPUT',
      'INVALID_RECEIVER',
    ]);
    const rejectedResult = await runVerb('reject', id, '--reason', 'No such account');
    expect(rejectedResult).toMatchObject({ status: 'INACTIVE', reason: 'No such account' });
    expect([await createDebit(), await requestQuote()]).toEqual([
      'INVALID_BANK_ACCOUNT',
      'INVALID_BANK_ACCOUNT',
    ]);
    await runVerb('reactivate', id);
    expect([await createDebit(), await requestQuote()]).toEqual([201, 201]);
    await runVerb('review', id);
    await runVerb('clear', id);
    await runVerb('disable', id);
    expect(await readEmittedStatuses(id)).toEqual([
      ...['PENDING', 'UNDER_REVIEW', 'INACTIVE', 'ACTIVE'],
      ...['UNDER_REVIEW', 'ACTIVE', 'INACTIVE'],
    ]);
    await service.expectRejected(
      'The account is INACTIVE. This action requires the status PENDING or UNDER_REVIEW.',
      'external-accounts',
      'clear',
      id,
    );
    const history: { action: string }[] = await runVerb('history', id);
    expect(history.map((each) => each.action)).toEqual([
      ...['check', 'review', 'reject', 'reactivate', 'review', 'pass', 'disable'],
    ]);
    expect(history[2]).toMatchObject({ actor: 'operator', reason: 'No such account' });
  });

  it('stop a production payment that was quoted before', async () => {
    const { account, person } = await service.createPayer('100.00');
    const payeeAccountId = await service.createPayee(person.id);
    const body = quoteBody(account, payeeAccountId, 50_00);
    const quote = ok(await service.app.call('POST', '/quotes', body, service.callOptions), 201);
    await runVerb('review', payeeAccountId);
    const headers = { 'idempotency-key': quote.id };
    const url = `/quotes/${quote.id}/execute`;
    const reply = await service.app.call('POST', url, undefined, {
      ...service.callOptions,
      headers,
    });
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_RECEIVER']);
    expect(await readEmittedStatuses(payeeAccountId)).toEqual(['UNDER_REVIEW']);
  });

  it('list accounts with the last digits of their numbers', async () => {
    const { id: customerId } = await createCustomer(service.app, service.callOptions);
    const list = (...flags: string[]) =>
      service.runJson('external-accounts', 'list', service.platform.id, ...flags);
    const { id } = await createExternalAccount(
      service.app,
      customerId,
      'USD',
      '000',
      service.callOptions,
    );
    await runVerb('check', id);
    const [pendingAccount, ...otherAccounts] = await list('--status', 'PENDING');
    expect(pendingAccount).toMatchObject({ accountId: id, customerId, currency: 'USD' });
    expect(otherAccounts).toEqual([]);
    expect(pendingAccount.account.accountNumber).toMatch(/^\*+\w{1,4}$/);
    const allAccounts: { accountId: string }[] = await list();
    expect(allAccounts.length).toBeGreaterThan(1);
    expect(await list('--limit', '1')).toEqual(allAccounts.slice(0, 1));
    expect(await list('--after', allAccounts[0]?.accountId as string)).toEqual(
      allAccounts.slice(1),
    );
    const output = await service.run('external-accounts', 'list', service.platform.id);
    expect(output.out).toContain(id);
  });

  it('reject an unknown account, and a check of a wallet', async () => {
    const person = await createCustomer(service.app);
    const address = '0xAbCDEF1234567890aBCdEf1234567890ABcDef12'.toLowerCase();
    const accountInfo = { accountType: 'ETHEREUM_WALLET', address };
    const body = { currency: 'USDC', accountInfo, customerId: person.id };
    const { id } = ok(await service.app.call('POST', '/customers/external-accounts', body), 201);
    await service.expectRejected(
      'A wallet cannot be checked by a bank',
      'external-accounts',
      'check',
      id,
    );
    expect(await runVerb('review', id)).toMatchObject({ status: 'UNDER_REVIEW' });
    ok(await service.app.call('DELETE', `/customers/external-accounts/${id}`), 204);
    const internalAccount = await findInternalAccount(service.app, person.id, 'USD');
    for (const unknownId of [id, internalAccount.id, 'unknown']) {
      await service.expectRejected('Account not found.', 'external-accounts', 'clear', unknownId);
      await service.expectRejected('Account not found.', 'external-accounts', 'history', unknownId);
    }
  });
});
