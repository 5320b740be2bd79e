// Operations of the operator API on stablecoins, mints and burns.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { operatorService } from '../../../test/kit/operator/production.ts';
import { mintFixture } from '../../../test/kit/payments/mints.ts';
import { stablecoinFixture } from '../../../test/kit/payments/stablecoins.ts';

const { service, read, rejects, isHidden, change } = operatorService();
let fixture: ReturnType<typeof stablecoinFixture>;
let mints: ReturnType<typeof mintFixture>;

beforeAll(() => {
  fixture = stablecoinFixture(service.app);
  mints = mintFixture(service.app);
});

const decide = (id: string, step: string, operationId: string, body: object = {}) =>
  change(`/stablecoins/${id}/${step}`, body, operationId, id, service.app.platform.id);

describe('stablecoins', () => {
  it('are rejected, approved and disabled, with their history', async () => {
    const { id } = await fixture.createCoin();
    ok(await fixture.requestEnablement(id), 200);
    const path = `/stablecoins/${id}`;
    const input = { reason: 'Documents are missing' };
    await isHidden('POST', `${path}/reject`, input);
    expect(await decide(id, 'reject', 'rejectStablecoin', input)).toMatchObject({
      ...{ id, serviceOperationsStatus: 'NOT_ENABLED', ...input },
    });
    await rejects(409, 'CONFLICT', 'POST', `${path}/reject`, { body: input });
    await decide(id, 'approve', 'approveStablecoin');
    await decide(id, 'disable', 'disableStablecoin');
    const firstPage = await read(`${path}/history?limit=2`);
    expect(firstPage.data).toMatchObject([{ action: 'reject', ...input }, { action: 'approve' }]);
    const nextPage = await read(`${path}/history?cursor=${firstPage.nextCursor}`);
    expect(nextPage.data).toMatchObject([{ action: 'disable', reason: null }]);
    await isHidden('GET', `${path}/history`);
    const unknownPath = '/stablecoins/Stablecoin:00000000-0000-7000-8000-000000000000';
    await rejects(404, 'STABLECOIN_NOT_FOUND', 'POST', `${unknownPath}/approve`);
    await rejects(404, 'STABLECOIN_NOT_FOUND', 'GET', `${unknownPath}/history`);
    const otherKindPath = '/stablecoins/StablecoinOperation:018f0000-0000-7000-8000-000000000000';
    await rejects(404, 'STABLECOIN_NOT_FOUND', 'GET', `${otherKindPath}/history`);
  });

  it('are listed by page, with their circulating supply', async () => {
    const coin = await mints.createCirculatingCoin(12);
    const listPath = `/stablecoins?platformId=${service.app.platform.id}`;
    const { data } = await read(`${listPath}&limit=100`);
    const ownCoin = data.find((each: { id: string }) => each.id === coin.id);
    expect(ownCoin).toMatchObject({ circulating: '12000000', platformId: service.app.platform.id });
    const path = `/stablecoins/${coin.id}`;
    const coinView = await read(path);
    expect(coinView).toMatchObject({ id: coin.id, ties: true, circulating: '12000000' });
    expect(coinView.supply).toEqual([
      { measure: 'CIRCULATING', ledger: '12000000', expected: '12000000' },
      { measure: 'ISSUED', ledger: '12000000', expected: '12000000' },
      { measure: 'HELD_FOR_BURNS', ledger: '0', expected: '0' },
      { measure: 'HELD_FOR_MINTS', ledger: '0', expected: '0' },
    ]);
    const { db } = service.app.runtime;
    const changeAmount = (term: string) =>
      db.query(
        `update stablecoin_operations set amount = amount ${term} where stablecoin_id = $1
          and status = 'COMPLETED'`,
        [coin.id],
      );
    await changeAmount('+ 1');
    const alteredView = await read(path);
    await changeAmount('- 1');
    expect(alteredView.ties).toBe(false);
    await isHidden('GET', path);
    const firstPage = await read(`${listPath}&limit=1`);
    const nextPage = await read(`${listPath}&limit=1&cursor=${firstPage.nextCursor}`);
    expect([firstPage.data[0], nextPage.data[0]]).toEqual(data.slice(0, 2));
    expect((await read(`${listPath}&status=PENDING_APPROVAL`)).data).toEqual([]);
    await isHidden('GET', listPath);
  });
});

describe('mints and burns', () => {
  it('are listed, and recorded as failed with a reason', async () => {
    const coin = await fixture.createCoin();
    const wallet = await fixture.createWallet();
    const { id } = ok(await mints.mint(coin.id, mints.mintBody(wallet.id)), 201);
    const listPath = `/stablecoin-operations?stablecoinId=${coin.id}`;
    const { data } = await read(`${listPath}&limit=1`);
    expect(data).toMatchObject([{ operationId: id, type: 'MINT', amount: '100000000' }]);
    await isHidden('GET', `${listPath}&platformId=${service.app.platform.id}`);
    const path = `/stablecoin-operations/${id}`;
    await rejects(400, 'INVALID_INPUT', 'POST', `${path}/end`, { body: { outcome: 'failed' } });
    const body = { outcome: 'failed', reason: 'Ticket 7' };
    await isHidden('POST', `${path}/end`, body);
    const { platform } = service.app;
    const result = await change(`${path}/end`, body, 'endStablecoinOperation', id, platform.id);
    expect(result).toMatchObject({ operationId: id, status: 'FAILED', reason: 'Ticket 7' });
    await rejects(409, 'CONFLICT', 'POST', `${path}/end`, { body });
    const history = await read(`${path}/history`);
    expect(history.data).toMatchObject([{ action: 'fail', reason: 'Ticket 7' }]);
    await isHidden('GET', `${path}/history`);
  });
});
