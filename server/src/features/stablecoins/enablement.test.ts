// Service enablement of a token. The platform requests it, the operator decides, and a job applies the
// decision. Every status is covered.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { stablecoinFixture } from '../../../test/kit/payments/stablecoins.ts';
import { decideService } from './coins/coin-jobs.ts';
import { SERVICE_STATUSES, type ServiceStatus } from './states.ts';
import { stablecoins } from './store.ts';

const app = testApp();
const fixture = stablecoinFixture(app);

const readCoin = async (id: string) => ok(await fixture.read(`/stablecoins/${id}`), 200);

/** Sets the service status of a token. */
const setStatus = (id: string, status: ServiceStatus) =>
  app.runtime.db.query(
    'update stablecoins set service_status = $2, version = version + 1 where id = $1',
    [id, status],
  );

/** Approves as the operator. */
const approve = (id: string) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(stablecoins, id);
    if (row) decideService(ctx, row, 'approve');
  });

describe('requestStablecoinServiceEnablement', () => {
  const OUTCOMES: Readonly<Record<ServiceStatus, ServiceStatus | 409>> = {
    NOT_ENABLED: 'PENDING_APPROVAL',
    PENDING_APPROVAL: 'PENDING_APPROVAL',
    ENABLING: 409,
    ENABLED: 409,
    DISABLED: 409,
  };

  it.each(SERVICE_STATUSES)(
    'requests the approval of a token in status %s, or is rejected',
    async (status) => {
      const { id } = await fixture.createCoin();
      await setStatus(id, status);
      const response = await fixture.requestEnablement(id);
      const outcome = OUTCOMES[status];
      if (outcome === 409) {
        expect([response.status, response.body.code]).toEqual([
          409,
          'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
        ]);
        expect(response.body.reason).toContain(status);
        expect((await readCoin(id)).serviceOperationsStatus).toBe(status);
      } else {
        expect(ok(response, 200).serviceOperationsStatus).toBe(outcome);
        expect(await readCoin(id)).toEqual(response.body);
      }
    },
  );

  it('has no effect when repeated', async () => {
    const { id } = await fixture.createCoin();
    const firstBody = ok(await fixture.requestEnablement(id), 200);
    app.effects.set(app.effects.now() + 1_000);
    expect(ok(await fixture.requestEnablement(id), 200)).toEqual(firstBody);
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => fixture.requestEnablement(id)),
    );
    expect(new Set(responses.map((each) => each.status))).toEqual(new Set([200]));
  });

  it('awaits the approval of the operator, which a job applies', async () => {
    const { id } = await fixture.createCoin();
    ok(await fixture.requestEnablement(id), 200);
    await app.advance(60_000);
    expect(await readCoin(id)).toMatchObject({ serviceOperationsStatus: 'PENDING_APPROVAL' });
    expect(await readCoin(id)).not.toHaveProperty('currency');
    await approve(id);
    expect((await readCoin(id)).serviceOperationsStatus).toBe('ENABLING');
    await app.settle();
    const coin = await readCoin(id);
    expect(coin).toMatchObject({ serviceOperationsStatus: 'ENABLED', currency: coin.symbol });
  });

  it('enables an approved token once it is provisioned', async () => {
    const { id } = await fixture.createCoin({ token: '005' });
    ok(await fixture.requestEnablement(id), 200);
    await approve(id);
    await app.advance(29_999);
    expect((await readCoin(id)).serviceOperationsStatus).toBe('ENABLING');
    await app.advance(1);
    expect(await readCoin(id)).toMatchObject({
      issuanceStatus: 'PROVISIONED',
      serviceOperationsStatus: 'ENABLED',
    });
  });

  it('requires no operator in the sandbox for a token with the suffix 006', async () => {
    const { id } = await fixture.createCoin({ token: '006' });
    expect((await readCoin(id)).serviceOperationsStatus).toBe('NOT_ENABLED');
    expect(ok(await fixture.requestEnablement(id), 200).serviceOperationsStatus).toBe(
      'PENDING_APPROVAL',
    );
    await app.settle();
    expect((await readCoin(id)).serviceOperationsStatus).toBe('ENABLED');
  });

  it('requires MANAGE and a token of the platform', async () => {
    const { id } = await fixture.createCoin();
    const path = `/stablecoins/${id}/request-service-enablement`;
    const callerToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    const rejectedResponse = await app.call('POST', path, undefined, { platform: callerToken });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([403, 'FORBIDDEN']);
    const otherResponse = await app.call('POST', path, undefined, { platform: app.other });
    expect([otherResponse.status, otherResponse.body.code]).toEqual([404, 'STABLECOIN_NOT_FOUND']);
  });
});

describe('a server with another service name prefix', () => {
  it('uses the prefix in fields, paths and codes', async () => {
    const acme = await startApp({ serviceNamePrefix: 'Acme' });
    try {
      const separateFixture = stablecoinFixture(acme);
      const coin = await separateFixture.createCoin();
      expect(coin.acmeOperationsStatus).toBe('NOT_ENABLED');
      expect(coin).not.toHaveProperty('serviceOperationsStatus');
      const path = `/stablecoins/${coin.id}/request-acme-enablement`;
      const requestedCoin = ok(await acme.call('POST', path), 200);
      expect(requestedCoin.acmeOperationsStatus).toBe('PENDING_APPROVAL');
      const list = await separateFixture.read('/stablecoins?acmeOperationsStatus=PENDING_APPROVAL');
      expect(ok(list, 200).data).toHaveLength(1);
      const enabledList = await separateFixture.read('/stablecoins?acmeOperationsStatus=ENABLED');
      expect(ok(enabledList, 200).data).toEqual([]);
      await acme.operate(async (ctx) => {
        const row = await ctx.read(stablecoins, coin.id);
        if (row) decideService(ctx, row, 'approve');
      });
      const secondResponse = await acme.call('POST', path);
      expect([secondResponse.status, secondResponse.body.code]).toEqual([
        409,
        'STABLECOIN_ACME_ENABLEMENT_NOT_REQUESTABLE',
      ]);
    } finally {
      await acme.close();
    }
  });
});

describe('a token that is not issued', () => {
  it.each(['002', '003'])('cannot be enabled: suffix %s', async (token) => {
    const { id, issuanceStatus } = await fixture.createCoin({ token });
    const { status, body } = await fixture.requestEnablement(id);
    expect([status, body.code]).toEqual([409, 'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE']);
    expect(body.reason).toContain(issuanceStatus);
  });

  it.each([
    ['PENDING_APPROVAL', 'NOT_ENABLED'],
    ['ENABLING', 'DISABLED'],
    ['NOT_ENABLED', 'NOT_ENABLED'],
    ['DISABLED', 'DISABLED'],
  ] as const)('changes its service status from %s to %s', async (previousStatus, nextStatus) => {
    const { id } = await fixture.createCoin({ token: '005' });
    await setStatus(id, previousStatus);
    // The provider no longer has the token.
    await app.runtime.db.query(
      "update stablecoins set provider_token_identifier = 'gone-004' where id = $1",
      [id],
    );
    await app.advance(15_000);
    expect(await readCoin(id)).toMatchObject({
      issuanceStatus: 'FAILED',
      serviceOperationsStatus: nextStatus,
    });
    const actionsSql = 'select actor, action, reason from account_actions where account_id = $1';
    expect(await app.runtime.db.query(actionsSql, [id])).toEqual(
      previousStatus === nextStatus
        ? []
        : [{ actor: 'service', action: 'drop', reason: 'The token is FAILED at its provider.' }],
    );
  });
});
