// Operator statuses, set through the sandbox API: transitions, events, and unsupported resources.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  eventTypes,
  findInternalAccount,
  ok,
} from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const setStatus = (resourceId: string, status: string, options: CallOptions = {}) =>
  app.call('POST', '/sandbox/status', { resourceId, status }, options);

/** The resources of a world, by the names of its steps. */
async function loadWorld(name: string, options: CallOptions = {}) {
  ok(await app.call('POST', '/sandbox/reset', undefined, options), 200);
  const body = { world: name };
  return ok(await app.call('POST', '/sandbox/fixtures', body, options), 201).resources;
}

describe('setSandboxStatus', () => {
  it('freezes an account, which rejects funds until it is unfrozen', async () => {
    const { active } = await loadWorld('accounts');
    const { id } = active;
    const fund = () => app.call('POST', `/sandbox/internal-accounts/${id}/fund`, { amount: 100 });
    expect(ok(await setStatus(id, 'FROZEN'), 200)).toEqual({ resourceId: id, status: 'FROZEN' });
    expect((await fund()).status).toBe(400);
    expect(await eventTypes(app, id)).toContain('INTERNAL_ACCOUNT.STATUS_UPDATED');
    const eventCountBefore = (await app.events()).length;
    ok(await setStatus(id, 'FROZEN'), 200);
    expect((await app.events()).length).toBe(eventCountBefore);
    ok(await setStatus(id, 'ACTIVE'), 200);
    expect((await fund()).status).toBe(200);
  });

  it('applies the same conditions as for the operator', async () => {
    const { active, closed, externalUnderReview, externalInactive } = await loadWorld('accounts');
    expect(await setStatus(active.id, 'CLOSED')).toMatchObject({ status: 409 });
    expect(await setStatus(closed.id, 'ACTIVE')).toMatchObject({ status: 409 });
    ok(await setStatus(externalUnderReview.id, 'INACTIVE'), 200);
    ok(await setStatus(externalInactive.id, 'ACTIVE'), 200);
  });

  it('rejects a change of an account of a deleted customer', async () => {
    ok(await app.call('POST', '/sandbox/reset'), 200);
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    ok(await setStatus(account.id, 'FROZEN'), 200);
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    expect(await setStatus(account.id, 'ACTIVE')).toMatchObject({ status: 410 });
  });

  it('decides verifications', async () => {
    const { unverified, pending, approved } = await loadWorld('customers');
    const statusOf = async (id: string) =>
      (await app.call('GET', `/customers/${id}`)).body.kycStatus;
    ok(await setStatus(unverified.id, 'APPROVED'), 200);
    ok(await setStatus(pending.id, 'HOLD'), 200);
    expect(await statusOf(unverified.id)).toBe('APPROVED');
    expect(await statusOf(pending.id)).toBe('HOLD');
    ok(await setStatus(pending.id, 'REJECTED'), 200);
    expect(await setStatus(approved.id, 'HOLD')).toMatchObject({ status: 409 });
  });

  it('decides verifications of businesses', async () => {
    ok(await app.call('POST', '/sandbox/reset'), 200);
    const createBusiness = async () =>
      ok(
        await app.call('POST', '/customers', {
          customerType: 'BUSINESS',
          businessInfo: {
            legalName: 'Acme Inc',
            country: 'US',
            taxId: '12-3456789',
            incorporatedOn: '2019-01-01',
          },
        }),
        201,
      ).id;
    for (const status of ['APPROVED', 'REJECTED', 'HOLD']) {
      const id = await createBusiness();
      ok(await setStatus(id, status), 200);
      expect((await app.call('GET', `/customers/${id}`)).body.kybStatus).toBe(status);
    }
  });

  it('releases and returns held deposits', async () => {
    const { held, receiverUsd } = await loadWorld('deposits');
    const { id } = receiverUsd.data[0];
    ok(await setStatus(held.id, 'COMPLETED'), 200);
    const body = { amount: 100, pendingReason: 'COMPLIANCE_REVIEW' };
    ok(await app.call('POST', `/sandbox/internal-accounts/${id}/fund`, body), 200);
    const { data } = ok(await app.call('GET', '/transactions?type=INCOMING&limit=1'), 200);
    ok(await setStatus(data[0].id, 'FAILED'), 200);
    const { status } = ok(await app.call('GET', `/transactions/${data[0].id}`), 200);
    expect(status).toBe('FAILED');
    expect(await setStatus(held.id, 'FAILED')).toMatchObject({ status: 409 });
  });

  it('approves and rejects the enablement of stablecoins', async () => {
    const { pendingApproval, provisioned } = await loadWorld('stablecoins');
    ok(await setStatus(pendingApproval.id, 'NOT_ENABLED'), 200);
    ok(await setStatus(provisioned.id, 'ENABLING'), 200);
    await app.settle();
    const { body } = await app.call('GET', `/stablecoins/${provisioned.id}`);
    expect(body.serviceOperationsStatus).toBe('ENABLED');
  });

  it('reports the possible statuses of the resource, and hides resources of other platforms', async () => {
    const { active, externalActive } = await loadWorld('accounts');
    const rejectedResponse = await setStatus(active.id, 'HOLD');
    expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rejectedResponse.body.details.errors[0]).toEqual({
      field: 'status',
      message: 'must be one of FROZEN, ACTIVE, CLOSED for this resource',
    });
    for (const id of [active.id, externalActive.id]) {
      expect(await setStatus(id, 'ACTIVE', { platform: app.other })).toMatchObject({ status: 404 });
    }
    expect(await setStatus('Card:1', 'FROZEN')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  });

  it('requires a sandbox platform and a token with MANAGE', async () => {
    expect(await setStatus('x', 'FROZEN', { platform: app.production })).toMatchObject({
      status: 403,
    });
    const tokenWithoutManage = await app.tokenWith(['VIEW', 'TRANSACT']);
    expect(await setStatus('x', 'FROZEN', { platform: tokenWithoutManage })).toMatchObject({
      status: 403,
    });
  });
});
