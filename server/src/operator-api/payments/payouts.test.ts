// Operations of transfers over manual rails.
import { describe, expect, it } from 'vitest';
import { createExternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, call, newOperator, read, rejects, isHidden, change } = operatorService();

const decide = (id: string, step: string, operationId: string, body: object = {}) =>
  change(`/payouts/${id}/${step}`, body, operationId, id);

const requestCancel = async (id: string) =>
  ok(
    await service.app.call('POST', `/transactions/${id}/cancel`, undefined, service.callOptions),
    200,
  );

describe('transfers', () => {
  it('are listed with their account details, and each request is recorded', async () => {
    const ids = [(await service.createPayment()).id, (await service.createPayment()).id];
    const listPath = `/payouts?platformId=${service.platform.id}&limit=1`;
    const firstPage = await read(listPath);
    expect(firstPage.data).toMatchObject([
      { transactionId: ids[0], kind: 'payout', currency: 'EUR', accountType: 'EUR_ACCOUNT' },
    ]);
    expect(firstPage.data[0].account.iban).toBe('DE89370400440532013000');
    const nextPage = await read(`${listPath}&cursor=${firstPage.nextCursor}`);
    expect(nextPage).toMatchObject({ data: [{ transactionId: ids[1] }], hasMore: false });
    const { data } = await read('/audit-records?operationId=listAwaitedTransfers');
    expect(data).toHaveLength(2);
    await isHidden('GET', listPath);
  });

  it('are settled, and returned later', async () => {
    const { id } = await service.createPayment();
    await isHidden('POST', `/payouts/${id}/settle`, {});
    expect(await service.readStatus(id)).toBe('PROCESSING - -');
    const reference = { reference: 'BANK-1', reason: 'Statement of today' };
    expect(await decide(id, 'settle', 'settleTransfer', reference)).toMatchObject({
      ...{
        platformId: service.platform.id,
        status: 'COMPLETED',
        failureReason: null,
        refund: null,
      },
    });
    await rejects(409, 'CONFLICT', 'POST', `/payouts/${id}/settle`);
    const searchReply = await call('POST', '/search', { body: { query: reference.reference } });
    expect(searchReply.body.data).toMatchObject([
      { kind: 'PAYMENT', id, matchedBy: 'BANK_REFERENCE' },
    ]);
    const failure = { failureReason: 'PAYOUT_RETURNED', kind: 'payout' };
    expect(await decide(id, 'return', 'returnTransfer', failure)).toMatchObject({
      ...{ status: 'FAILED', failureReason: 'PAYOUT_RETURNED' },
    });
    const unknownPath = '/payouts/Transaction:018f0000-0000-7000-8000-000000000000/settle';
    await rejects(404, 'TRANSACTION_NOT_FOUND', 'POST', unknownPath);
  });

  it('require approval above an amount, and are settled immediately below it', async () => {
    const { id } = await service.createPayment();
    const policyFields = { operationId: 'settleTransfer', hours: 24 };
    const createPolicy = async (amount: number) => {
      const body = { ...policyFields, minimum: { amount, currency: 'EUR' } };
      return (await call('POST', '/approval-policies', { body })).body.id as string;
    };
    const settle = async (paymentId: string) =>
      call('POST', `/payouts/${paymentId}/settle`, {
        body: { reason: 'statement' },
        secret: await newOperator({ name: 'Requester', roles: ['administrator'] }),
      });
    const higherPolicyId = await createPolicy(1_000_000_00);
    expect((await settle(id)).status).toBe(200);
    expect((await call('DELETE', `/approval-policies/${higherPolicyId}`)).status).toBe(200);

    const { id: pendingId } = await service.createPayment();
    const lowerPolicyId = await createPolicy(1);
    const reply = await settle(pendingId);
    expect(reply).toMatchObject({ status: 202, body: { status: 'PENDING' } });
    expect(await service.readStatus(pendingId)).toBe('PROCESSING - -');
    const approve = async (name: string) =>
      call('POST', `/approvals/${reply.body.id}/approve`, {
        body: { reason: 'seen' },
        secret: await newOperator({ name, roles: ['administrator'] }),
      });
    expect((await approve('Requester')).status).toBe(403);
    expect((await approve('Approver')).body.reply).toMatchObject({ status: 'COMPLETED' });
    expect((await call('DELETE', `/approval-policies/${lowerPolicyId}`)).status).toBe(200);
  });

  it('are recorded as failed', async () => {
    const { id } = await service.createPayment();
    await rejects(400, 'INVALID_INPUT', 'POST', `/payouts/${id}/fail`, { body: {} });
    const failure = { failureReason: 'ACCOUNT_INVALID', isRefundable: false };
    await decide(id, 'fail', 'failTransfer', failure);
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED FAILED ACCOUNT_INVALID');
  });

  it('are recalled, or the recall is rejected', async () => {
    const { person, account } = await service.createPayer();
    const payerAccount = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const parties = { source: { accountId: payerAccount.id }, destination: { accountId: account } };
    const createDebit = async () => {
      const body = { ...parties, amount: 40_00 };
      const row = ok(
        await service.app.call('POST', '/transfer-in', body, service.callOptions),
        201,
      );
      await service.app.advance(60_000);
      return row.id as string;
    };
    const [recalledId, rejectedId] = [await createDebit(), await createDebit()];
    const body = { reason: 'The bank has sent the transfer' };
    await rejects(409, 'CONFLICT', 'POST', `/payouts/${rejectedId}/reject-cancel`, { body });
    await requestCancel(recalledId);
    await requestCancel(rejectedId);
    await service.app.settle();
    await decide(rejectedId, 'reject-cancel', 'rejectTransferCancel', body);
    await rejects(409, 'CONFLICT', 'POST', `/payouts/${rejectedId}/cancel`);
    await decide(recalledId, 'cancel', 'cancelTransfer');
    expect((await service.readQueue(rejectedId))[0]).toMatchObject({ cancelRequestedAt: null });
    expect(await service.readQueue(recalledId)).toEqual([]);
  });
});
