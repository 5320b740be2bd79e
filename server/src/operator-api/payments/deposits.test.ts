// Operations of the operator API on deposits.
import { describe, expect, it } from 'vitest';
import { readBalances } from '../../../test/kit/app/fixtures.ts';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, call, secretOf, read, rejects, isHidden, change } = operatorService();

const entryOf = (accountId: string, bankReference: string, fields: object = {}) => ({
  ...{ bankReference, accountId, amount: 12_50, currency: 'USD', rail: 'WIRE' },
  ...fields,
});

const recordDeposit = (accountId: string, reference: string, fields: object = {}) =>
  change('/deposits', entryOf(accountId, reference, fields), 'recordDeposit');

describe('deposits', () => {
  it('are recorded once per statement entry', async () => {
    const { account } = await service.createPayer();
    const firstReply = await recordDeposit(account, 'API-1', { senderName: 'Ada Lovelace' });
    expect(firstReply).toMatchObject({ platformId: service.platform.id, status: 'COMPLETED' });
    expect(firstReply.recorded).toBe('now');
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(12_50);
    const path = '/deposits';
    const repeatedEntry = entryOf(account, 'API-1', { amount: 12_51 });
    await rejects(409, 'CONFLICT', 'POST', path, { body: repeatedEntry });
    await isHidden('POST', path, entryOf(account, 'API-1'));
    await isHidden('POST', path, entryOf(account, 'API-2'));
    const euroEntry = entryOf(account, 'API-3', { currency: 'EUR' });
    await rejects(400, 'INVALID_CURRENCY', 'POST', path, { body: euroEntry });
    const unknownEntry = entryOf('InternalAccount:018f0000-0000-7000-8000-000000000000', 'API-4');
    await rejects(404, 'ACCOUNT_NOT_FOUND', 'POST', path, { body: unknownEntry });
    const { accountId: _, ...entry } = entryOf(account, 'API-5');
    const entryWithUnknownReference = { ...entry, paymentReference: `RH${'0'.repeat(32)}` };
    await rejects(404, 'REFERENCE_NOT_FOUND', 'POST', path, { body: entryWithUnknownReference });
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(12_50);
  });

  it('are found by the reference of the bank', async () => {
    const { account } = await service.createPayer();
    const { transactionId } = await recordDeposit(account, 'STMT 2026/11-42');
    const search = async (query: string, secret?: string) => {
      const options = secret === undefined ? { body: { query } } : { body: { query }, secret };
      const reply = await call('POST', '/search', options);
      return reply.body.data.map((hit: Record<string, string>) => `${hit.matchedBy} ${hit.id}`);
    };
    expect(await search('STMT 2026/11-42')).toEqual([`BANK_REFERENCE ${transactionId}`]);
    expect(await search('STMT 2026/11')).toEqual([]);
    expect(await search('STMT 2026/11-42', await secretOf(service.app.other.id))).toEqual([]);
  });

  it('are rejected with every invalid field', async () => {
    const body = { bankReference: '1', amount: 1, currency: 'XXX', hold: 'COMPLIANCE_REVIEW' };
    const input = { body: { ...body, transactionHash: '0x1' } };
    const { details } = await rejects(400, 'INVALID_INPUT', 'POST', '/deposits', input);
    const fields = details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual(['accountId', 'currency', 'hold', 'network']);
  });

  it('are listed while held, and can be released, rejected or returned', async () => {
    const { account } = await service.createPayer();
    const ids: string[] = [];
    for (const reference of ['API-H1', 'API-H2', 'API-H3']) {
      const heldDeposit = await recordDeposit(account, reference, { hold: 'COMPLIANCE_REVIEW' });
      expect(heldDeposit).toMatchObject({ status: 'PENDING', pendingReason: 'COMPLIANCE_REVIEW' });
      ids.push(heldDeposit.transactionId);
      await service.app.advance(1_000);
    }
    const listPath = `/deposits?platformId=${service.platform.id}&limit=2`;
    const firstPage = await read(listPath);
    expect(firstPage.data).toMatchObject([
      { transactionId: ids[0], accountId: account, amount: 12_50, readable: '12.50' },
      { transactionId: ids[1], source: 'REALTIME_FUNDING', reason: 'COMPLIANCE_REVIEW' },
    ]);
    expect(firstPage.hasMore).toBe(true);
    const nextPage = await read(`${listPath}&cursor=${firstPage.nextCursor}`);
    expect(nextPage).toMatchObject({ data: [{ transactionId: ids[2] }], hasMore: false });
    expect(nextPage.nextCursor).toBeUndefined();
    await rejects(400, 'INVALID_INPUT', 'GET', `${listPath}&cursor=none`);
    expect((await read(`/deposits?platformId=${service.app.other.id}`)).data).toEqual([]);
    await isHidden('GET', `/deposits?platformId=${service.platform.id}`);

    const [firstId = '', secondId = '', thirdId = ''] = ids;
    await isHidden('POST', `/deposits/${firstId}/release`, {});
    const decide = (id: string, step: string, operationId: string, body: object = {}) =>
      change(`/deposits/${id}/${step}`, body, operationId, id);
    const input = { reason: 'Documents are complete' };
    expect(await decide(firstId, 'release', 'releaseDeposit', input)).toMatchObject({
      status: 'COMPLETED',
    });
    const failure = { failureReason: 'COMPLIANCE_REJECTED', reason: 'Sender is not known' };
    await decide(secondId, 'reject', 'rejectDeposit', failure);
    expect(await service.readStatus(secondId)).toContain('FAILED PENDING COMPLIANCE_REJECTED');
    await decide(thirdId, 'return', 'recordDepositReturn');
    await rejects(409, 'CONFLICT', 'POST', `/deposits/${firstId}/release`);
    await isHidden('POST', `/deposits/${firstId}/release`);
    const unknownPath = '/deposits/Transaction:018f0000-0000-7000-8000-000000000000/return';
    await rejects(404, 'TRANSACTION_NOT_FOUND', 'POST', unknownPath);
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(12_50);
  });
});
