// Operations of internal accounts.
import { describe, expect, it } from 'vitest';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, read, rejects, isHidden, change } = operatorService();

const transition = (id: string, step: string, operationId: string, body: object = {}) =>
  change(`/accounts/${id}/${step}`, body, operationId, id);

describe('accounts', () => {
  it('are listed in pages with their balances', async () => {
    const { account } = await service.createPayer('20.00');
    const listPath = `/accounts?platformId=${service.platform.id}`;
    const allAccounts = (await read(`${listPath}&limit=100`)).data;
    expect(
      allAccounts.find((each: { accountId: string }) => each.accountId === account),
    ).toMatchObject({
      ...{ balance: 20_00, held: 0, owed: 0, currency: 'USD', status: 'ACTIVE' },
    });
    const firstPage = await read(`${listPath}&limit=1`);
    const nextPage = await read(`${listPath}&limit=1&cursor=${firstPage.nextCursor}`);
    expect([firstPage.data[0], nextPage.data[0]]).toEqual(allAccounts.slice(0, 2));
    expect((await read(`${listPath}&owing=true`)).data).toEqual([]);
    const [{ accountId }] = (await read(listPath)).data;
    expect((await read(`/accounts?accountId=${accountId}`)).data).toMatchObject([{ accountId }]);
    expect((await read(`${listPath}&status=FROZEN`)).data).toEqual([]);
    await isHidden('GET', listPath);
  });

  it('are frozen, unfrozen and closed, with their history', async () => {
    const { account } = await service.createPayer('20.00');
    await rejects(400, 'INVALID_INPUT', 'POST', `/accounts/${account}/freeze`, { body: {} });
    await isHidden('POST', `/accounts/${account}/freeze`, { reason: 'A test' });
    const frozenReply = await transition(account, 'freeze', 'freezeAccount', { reason: 'Review' });
    expect(frozenReply).toMatchObject({ accountId: account, status: 'FROZEN', balance: 20_00 });
    await transition(account, 'unfreeze', 'unfreezeAccount');
    await rejects(409, 'CONFLICT', 'POST', `/accounts/${account}/close`);
    await rejects(409, 'CONFLICT', 'POST', `/accounts/${account}/retry`);
    const path = `/accounts/${account}/history`;
    const firstPage = await read(`${path}?limit=1`);
    expect(firstPage.data).toMatchObject([
      { actor: 'operator', action: 'freeze', reason: 'Review' },
    ]);
    const nextPage = await read(`${path}?cursor=${firstPage.nextCursor}`);
    expect(nextPage.data).toMatchObject([{ action: 'unfreeze', reason: null }]);
    await isHidden('GET', path);
    const { account: emptyAccount } = await service.createPayer();
    expect(await transition(emptyAccount, 'close', 'closeAccount')).toMatchObject({
      status: 'CLOSED',
    });
    const unknownId = 'InternalAccount:018f0000-0000-7000-8000-000000000000';
    await rejects(404, 'ACCOUNT_NOT_FOUND', 'GET', `/accounts/${unknownId}/history`);
    await rejects(404, 'ACCOUNT_NOT_FOUND', 'POST', `/accounts/${unknownId}/close`);
  });

  it('can fail to open and be retried', async () => {
    const { account } = await service.createPayer();
    await service.app.runtime.db.query(
      "update internal_accounts set status = 'PENDING' where id = $1",
      [account],
    );
    expect(await transition(account, 'fail', 'failAccount')).toMatchObject({ status: 'FAILED' });
    expect(await transition(account, 'retry', 'retryAccount')).toMatchObject({ status: 'PENDING' });
  });

  it('receive new funding details', async () => {
    const { account } = await service.createPayer();
    const removeDetails = () =>
      service.app.runtime.db.query("update internal_accounts set funding = '[]' where id = $1", [
        account,
      ]);
    await removeDetails();
    const path = `/accounts/${account}/refresh-funding`;
    await isHidden('POST', path, {});
    const operationId = 'refreshAccountFunding';
    expect(await change(path, {}, operationId, account)).toEqual({
      ...{ platformId: service.platform.id, accounts: 1, changed: 1 },
    });
    await isHidden('POST', path, {});
    await removeDetails();
    const { id } = service.platform;
    const refreshPath = `/platforms/${id}/refresh-funding`;
    await isHidden('POST', refreshPath, {});
    const { changed } = await change(refreshPath, {}, 'refreshPlatformFunding', id);
    expect(changed).toBe(1);
    await rejects(404, 'PLATFORM_NOT_FOUND', 'POST', '/platforms/Platform:none/refresh-funding');
  });
});
