// The operator's verbs on stablecoins: every decision in every state, its effect, and its record.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { mintFixture } from '../../../test/kit/payments/mints.ts';
import { stablecoinFixture } from '../../../test/kit/payments/stablecoins.ts';
import { SERVICE_STATUSES } from '../../features/stablecoins/index.ts';

const service = openForFile(startProduction);
let fixture: ReturnType<typeof stablecoinFixture>;

beforeAll(async () => {
  fixture = stablecoinFixture(service.app);
});

const runVerb = (name: string, ...flags: string[]) =>
  service.runJson('stablecoins', name, ...flags);

/** Creates a stablecoin and sets its state by SQL. */
async function createCoin(status: string): Promise<string> {
  const { id } = await fixture.createCoin();
  await service.app.runtime.db.query(
    'update stablecoins set service_status = $2, version = version + 1 where id = $1',
    [id, status],
  );
  return id;
}

const OUTCOMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  approve: { NOT_ENABLED: 'ENABLING', PENDING_APPROVAL: 'ENABLING', DISABLED: 'ENABLING' },
  reject: { PENDING_APPROVAL: 'NOT_ENABLED' },
  disable: { ENABLING: 'DISABLED', ENABLED: 'DISABLED' },
};

describe.each(Object.keys(OUTCOMES))('stablecoins %s', (name) => {
  it.each(SERVICE_STATUSES)('is applied or rejected as the state %s requires', async (status) => {
    const id = await createCoin(status);
    const outcome = OUTCOMES[name]?.[status];
    if (outcome === undefined) {
      const reason = `The stablecoin is ${status}. The decision ${name} requires the status`;
      await service.expectRejected(reason, 'stablecoins', name, id);
      expect(await runVerb('history', id)).toEqual([]);
      return;
    }
    expect(await runVerb(name, id, '--reason', 'as agreed')).toMatchObject({
      id,
      platformId: service.app.platform.id,
      serviceOperationsStatus: outcome,
      reason: 'as agreed',
    });
    expect(await runVerb('history', id)).toMatchObject([
      { actor: 'operator', action: name, reason: 'as agreed' },
    ]);
  });
});

describe('stablecoins', () => {
  it('are requested, rejected, requested again, approved, disabled and approved', async () => {
    const { id } = await fixture.createCoin();
    const readStablecoin = async () => ok(await fixture.read(`/stablecoins/${id}`), 200);
    ok(await fixture.requestEnablement(id), 200);
    await runVerb('reject', id, '--reason', 'Documents are missing');
    ok(await fixture.requestEnablement(id), 200);
    await runVerb('approve', id);
    await service.app.settle();
    expect(await readStablecoin()).toMatchObject({ serviceOperationsStatus: 'ENABLED' });
    expect(await readStablecoin()).toHaveProperty('currency');
    await runVerb('disable', id);
    expect(await readStablecoin()).not.toHaveProperty('currency');
    expect((await fixture.requestEnablement(id)).status).toBe(409);
    await runVerb('approve', id);
    await service.app.settle();
    expect(await readStablecoin()).toMatchObject({ serviceOperationsStatus: 'ENABLED' });
    const history: { action: string }[] = await runVerb('history', id);
    expect(history.map((each) => each.action)).toEqual(['reject', 'approve', 'disable', 'approve']);
  });

  it.each([
    ['002', 'REJECTED'],
    ['003', 'FAILED'],
  ])('are not approved if never issued: …%s, %s', async (token, issuance) => {
    const { id } = await fixture.createCoin({ token });
    expect((await fixture.requestEnablement(id)).status).toBe(409);
    await service.expectRejected(
      `The token is ${issuance} at its provider and cannot be approved.`,
      'stablecoins',
      'approve',
      id,
    );
  });

  it('are not enabled by a job after they were disabled', async () => {
    const { id } = await fixture.createCoin();
    await runVerb('approve', id);
    await runVerb('disable', id);
    await service.app.settle();
    expect(ok(await fixture.read(`/stablecoins/${id}`), 200).serviceOperationsStatus).toBe(
      'DISABLED',
    );
  });

  it('are listed by platform and state, page by page', async () => {
    const otherFixture = stablecoinFixture(service.app, { platform: service.app.other });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await otherFixture.createCoin()).id);
    ok(await otherFixture.requestEnablement(ids[1] as string), 200);
    const list = async (...flags: string[]) =>
      (await runVerb('list', service.app.other.id, ...flags)).map(
        (each: { id: string }) => each.id,
      );
    expect(await list()).toEqual(ids);
    expect(await list('--status', 'PENDING_APPROVAL')).toEqual([ids[1]]);
    expect(await list('--limit', '1', '--after', ids[0] as string)).toEqual([ids[1]]);
    const pendingCoins: { id: string }[] = await runVerb('list', '--status', 'PENDING_APPROVAL');
    expect(pendingCoins.map((each) => each.id)).toContain(ids[1]);
  });

  it('are listed with their circulating supply', async () => {
    const mints = mintFixture(service.app);
    const coin = await mints.createCirculatingCoin(12);
    const allCoins: { id: string; circulating: string }[] = await runVerb('list');
    const circulatingAmount = allCoins.find((each) => each.id === coin.id)?.circulating;
    expect(circulatingAmount).toBe('12000000');
    const { out } = await service.run('stablecoins', 'list');
    expect(out).toMatch(/ SYMBOL +CIRCULATING +ISSUANCE +SERVICE\n/);
    expect(out).toMatch(new RegExp(`${coin.id} +\\S+ +${coin.symbol} +12\\.000000 +PROVISIONED`));
  });

  it('are rejected if unknown', async () => {
    const unknownId = 'Stablecoin:00000000-0000-7000-8000-000000000000';
    await service.expectRejected('Stablecoin not found.', 'stablecoins', 'approve', unknownId);
    await service.expectRejected('Stablecoin not found.', 'stablecoins', 'history', 'x');
  });
});
