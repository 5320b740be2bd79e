// Approvals: a change to which a policy applies is shown to a second operator, and is executed
// exactly as it was shown.
import { beforeEach, describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../test/kit/app/harness.ts';
import { testApp } from '../../test/kit/app/test-app.ts';
import { newOperatorUser, operatorClient } from '../../test/kit/operator/client.ts';
import { transactions } from '../features/payments/transactions/store.ts';
import {
  createPolicy,
  isApprovalNeeded,
  removePolicy,
  requirePolicies,
} from '../features/staff/approvals/index.ts';
import { verifyAudit } from '../features/staff/audit/index.ts';
import { type ChangeSet, emptyChangeSet } from '../runtime/committer/change-set.ts';

const app = testApp();
const client = operatorClient(app);
const COMMAND_OPERATOR = {
  kind: 'COMMAND',
  ...{ id: 'command', personId: 'command', name: 'test@machine' },
  ...{ roles: [], permissions: [], platformIds: null },
} as const;
const NEW_TOKEN = { name: 'Script', roles: ['viewer'], expiresInDays: 7 };

const operatorSecret = (name: string, roles = ['administrator'] as const) =>
  client.secretOf({ name, roles: [...roles] });

/** Requests the revocation of a new token, which needs an approval. */
async function requestRevocation(headers: Record<string, string> = {}) {
  const { body: token } = await client.call('POST', '/operator-tokens', { body: NEW_TOKEN });
  const secret = await operatorSecret('Requester');
  const path = `/operator-tokens/${token.id}`;
  const reply = await client.call('DELETE', path, { secret, headers });
  return { token, path, reply, approval: reply.body };
}

const statusOfToken = async (secret: string) => {
  const { status } = await client.call('GET', '/roles', { secret });
  return status === 401 ? 'revoked' : 'active';
};

const decide = async (id: string, verb: 'approve' | 'reject', name = 'Approver') =>
  client.call('POST', `/approvals/${id}/${verb}`, {
    body: { reason: 'checked' },
    secret: await operatorSecret(name),
  });

let policyId = '';
beforeEach(async () => {
  if (policyId) return;
  const body = { operationId: 'revokeOperatorToken', hours: 24, reason: 'Second operator' };
  const createdReply = await client.call('POST', '/approval-policies', { body });
  expect(createdReply.status).toBe(201);
  policyId = createdReply.body.id;
});

describe('a change with a policy', () => {
  it('is pending, is shown, and is executed once by another operator', async () => {
    const { token, approval, reply } = await requestRevocation();
    expect(reply.status).toBe(202);
    expect(approval).toMatchObject({ status: 'PENDING', requestedBy: { name: 'Requester' } });
    expect(await statusOfToken(token.secret)).toBe('active');
    const details = await client.call('GET', `/approvals/${approval.id}`);
    expect(details.body.changes.rows).toEqual([
      expect.objectContaining({
        table: 'operator_tokens',
        id: token.id,
        before: expect.objectContaining({ revoked_at: null }),
      }),
    ]);
    const approvedReply = await decide(approval.id, 'approve');
    expect(approvedReply.status).toBe(200);
    expect(approvedReply.body).toMatchObject({
      status: 200,
      reply: { id: token.id, status: 'REVOKED' },
    });
    expect(await statusOfToken(token.secret)).toBe('revoked');
    const replyAfter = await client.call('GET', `/approvals/${approval.id}`);
    expect(replyAfter.body).toMatchObject({
      status: 'APPROVED',
      decidedBy: { name: 'Approver' },
      decisionReason: 'checked',
    });
    expect((await decide(approval.id, 'approve', 'Third')).status).toBe(409);
    const records = await client.call('GET', `/audit-records?subject=${approval.id}`);
    const revocationRecord = records.body.data.find(
      (each: { operationId: string }) => each.operationId === 'revokeOperatorToken',
    );
    const recordReply = await client.call('GET', `/audit-records/${revocationRecord.id}/changes`);
    expect(recordReply.body.changes.rows).toContainEqual(
      expect.objectContaining({
        id: approval.id,
        before: expect.objectContaining({ status: 'PENDING' }),
        after: expect.objectContaining({ status: 'APPROVED' }),
      }),
    );
    expect((await verifyAudit(app.runtime)).problems).toEqual([]);
  });

  it('cannot be decided by its requester or without the permission of the operation', async () => {
    const { approval, token } = await requestRevocation();
    expect((await decide(approval.id, 'approve', 'Requester')).status).toBe(403);
    expect((await decide(approval.id, 'reject', 'Requester')).status).toBe(403);
    const treasurerSecret = await client.secretOf({ name: 'Treasurer', roles: ['treasury'] });
    const body = { reason: 'checked' };
    const path = `/approvals/${approval.id}/approve`;
    expect((await client.call('POST', path, { body, secret: treasurerSecret })).status).toBe(403);
    const viewerSecret = await client.secretOf({ name: 'Viewer', roles: ['viewer'] });
    expect((await client.call('POST', path, { body, secret: viewerSecret })).status).toBe(403);
    expect(
      (await client.call('GET', `/approvals/${approval.id}`, { secret: treasurerSecret })).status,
    ).toBe(403);
    const rejectPath = `/approvals/${approval.id}/reject`;
    expect((await client.call('POST', rejectPath, { body, secret: treasurerSecret })).status).toBe(
      403,
    );
    expect(await statusOfToken(token.secret)).toBe('active');
  });

  it('is executed once if several operators approve concurrently', async () => {
    const { approval } = await requestRevocation();
    const names = ['Approver', 'Second', 'Third', 'Fourth'];
    await Promise.all(names.map((name) => operatorSecret(name)));
    const replies = await Promise.all(names.map((name) => decide(approval.id, 'approve', name)));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409, 409]);
  });

  it('is either approved or rejected', async () => {
    const { approval, token } = await requestRevocation();
    const replies = await Promise.all([
      decide(approval.id, 'approve', 'Approver'),
      decide(approval.id, 'reject', 'Second'),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { body } = await client.call('GET', `/approvals/${approval.id}`);
    const isApproved = body.status === 'APPROVED';
    expect(await statusOfToken(token.secret)).toBe(isApproved ? 'revoked' : 'active');
  });

  it('must be requested again if the data has changed', async () => {
    const policy = { operationId: 'setPaymentLimit', hours: 24 };
    const { body } = await client.call('POST', '/approval-policies', { body: policy });
    const platformPath = `/platforms/${app.platform.id}`;
    const limit = { currency: 'USD', perPayment: 100_00 };
    const requestLimit = async () =>
      client.call('PUT', `${platformPath}/limits`, {
        body: limit,
        secret: await operatorSecret('Requester'),
      });
    const requestReply = await requestLimit();
    expect(requestReply.status).toBe(202);
    const changedReply = await client.call('PATCH', `${platformPath}/card-program`, {
      body: { maxLive: 7 },
    });
    expect(changedReply.status).toBe(200);
    const staleReply = await decide(requestReply.body.id, 'approve');
    expect([staleReply.status, staleReply.body.reason]).toEqual([
      409,
      'The state has changed since the request. Request the change again.',
    ]);
    expect((await decide(requestReply.body.id, 'reject')).status).toBe(200);
    expect((await requestLimit()).status).toBe(202);
    expect((await client.call('DELETE', `/approval-policies/${body.id}`)).status).toBe(200);
  });

  it('is not executed after its expiry', async () => {
    const { approval, token } = await requestRevocation();
    await app.advance(24 * 3_600_000);
    const expiredReply = await decide(approval.id, 'approve');
    expect([expiredReply.status, expiredReply.body.reason]).toEqual([
      409,
      'The approval is EXPIRED and can no longer be decided. Request the change again if it is ' +
        'still necessary.',
    ]);
    const { body } = await client.call('GET', `/approvals/${approval.id}`);
    expect(body.status).toBe('EXPIRED');
    expect(await statusOfToken(token.secret)).toBe('active');
  });

  it('is requested once per idempotency key', async () => {
    const headers = { 'Idempotency-Key': 'policy' };
    const body = { operationId: 'createApprovalPolicy', hours: 1 };
    const secret = await operatorSecret('Requester');
    await client.call('POST', '/approval-policies', { body, secret });
    const request = () =>
      client.call('POST', '/approval-policies', {
        body: { operationId: 'revokeOperatorToken', hours: 2 },
        secret,
        headers,
      });
    const [firstReply, repeatedReply] = [await request(), await request()];
    expect([firstReply.status, repeatedReply.status]).toEqual([202, 202]);
    expect(repeatedReply.body.id).toBe(firstReply.body.id);
    expect(repeatedReply.headers['idempotency-replayed']).toBe('true');
  });
});

describe('a pending change', () => {
  it('is listed by its resource with its requester', async () => {
    const { token, approval } = await requestRevocation();
    expect(approval.subject).toBe(token.id);
    const { body: page } = await client.call('GET', `/approvals?subject=${token.id}`);
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([approval.id]);
    const { body: details } = await client.call('GET', `/approvals/${approval.id}`);
    expect(details.input).toEqual({ operatorTokenId: token.id });
  });

  it('cannot be requested again until it is decided', async () => {
    const { approval, path } = await requestRevocation();
    const request = async (name: string) =>
      client.call('DELETE', path, { secret: await operatorSecret(name) });
    const repeatedReply = await request('Second');
    expect(repeatedReply.status).toBe(409);
    expect(repeatedReply.body).toMatchObject({
      code: 'CONFLICT',
      details: { approvalId: approval.id },
      reason:
        `Approval ${approval.id}, requested by Requester, is already pending for the same change. ` +
        'Approve or reject it first.',
    });
    // Another token is another change.
    expect((await requestRevocation()).reply.status).toBe(202);
    expect((await decide(approval.id, 'reject')).status).toBe(200);
    expect((await request('Second')).status).toBe(202);
  });

  it('is requested once if several operators request it concurrently', async () => {
    const { body: token } = await client.call('POST', '/operator-tokens', { body: NEW_TOKEN });
    const secrets = await Promise.all(['A', 'B', 'C', 'D'].map((name) => operatorSecret(name)));
    const replies = await Promise.all(
      secrets.map((secret) => client.call('DELETE', `/operator-tokens/${token.id}`, { secret })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
  });

  it('can be requested again after its expiry', async () => {
    const { path } = await requestRevocation();
    await app.advance(24 * 3_600_000);
    const secondReply = await client.call('DELETE', path, {
      secret: await operatorSecret('Second'),
    });
    expect([secondReply.status, secondReply.body.status]).toEqual([202, 'PENDING']);
  });

  it('differs from a change with the same operation and another input', async () => {
    const create = async (operationId: string, hours: number) =>
      (await client.call('POST', '/approval-policies', { body: { operationId, hours } })).status;
    await create('createApprovalPolicy', 24);
    expect(await create('closeCard', 1)).toBe(202);
    expect(await create('closeCard', 2)).toBe(202);
    expect(await create('closeCard', 1)).toBe(409);
  });
});

describe('a change whose requester no longer has the rights', () => {
  const createUser = async () => {
    const { user, secretOf } = await newOperatorUser(app);
    const secret = await secretOf();
    return { user, secret, createSecret: secretOf };
  };

  /** Requests the revocation of a new token with this secret. */
  async function requestBy(secret: string) {
    const { body: token } = await client.call('POST', '/operator-tokens', { body: NEW_TOKEN });
    const { status, body } = await client.call('DELETE', `/operator-tokens/${token.id}`, {
      secret,
    });
    expect(status).toBe(202);
    return { token, id: body.id as string };
  }

  const change = async (userId: string, body: object) => {
    const reply = await client.call('PATCH', `/operator-users/${userId}`, { body });
    expect(reply.status).toBe(200);
  };

  async function expectInvalid({ id, token }: { id: string; token: { secret: string } }) {
    const reply = await decide(id, 'approve');
    expect([reply.status, reply.body.code]).toEqual([409, 'CONFLICT']);
    expect(reply.body.reason).toContain('its requester has lost the permission');
    expect(await statusOfToken(token.secret)).toBe('active');
    const { body: details } = await client.call('GET', `/approvals/${id}`);
    const { body: page } = await client.call('GET', '/approvals?status=PENDING&limit=100');
    const listedApproval = page.data.find((each: { id: string }) => each.id === id);
    expect([details.status, listedApproval.status]).toEqual(['INVALID', 'INVALID']);
  }

  it('is not executed after its requester was disabled, and can be rejected', async () => {
    const { user, secret } = await createUser();
    const requestedApproval = await requestBy(secret);
    await change(user.id, { isDisabled: true });
    await expectInvalid(requestedApproval);
    // The invalid approval does not prevent the request of another operator.
    const path = `/operator-tokens/${requestedApproval.token.id}`;
    const otherReply = await client.call('DELETE', path, {
      secret: await operatorSecret('Requester'),
    });
    expect(otherReply.status).toBe(202);
    const rejectedReply = await decide(requestedApproval.id, 'reject');
    expect([rejectedReply.status, rejectedReply.body.status]).toEqual([200, 'REJECTED']);
  });

  it('is executed only while its requester has the permission', async () => {
    const { user, secret } = await createUser();
    const requestedApproval = await requestBy(secret);
    await change(user.id, { roles: ['viewer'] });
    await expectInvalid(requestedApproval);
    await change(user.id, { roles: ['administrator'] });
    expect((await decide(requestedApproval.id, 'approve')).status).toBe(200);
  });

  it('is not executed after its requester was restricted to one platform', async () => {
    const { user, secret } = await createUser();
    const requestedApproval = await requestBy(secret);
    await change(user.id, { platformIds: [app.platform.id] });
    await expectInvalid(requestedApproval);
  });

  it('is not executed after the token of its requester was revoked or has expired', async () => {
    const { secret, createSecret } = await createUser();
    const requestedApproval = await requestBy(secret);
    const tokens = (await client.call('GET', '/operator-tokens?limit=100')).body.data;
    const { id } = tokens.find(({ name }: { name: string }) => name === 'Of a user');
    const approver = await operatorSecret('Requester');
    const revocationReply = await client.call('DELETE', `/operator-tokens/${id}`, {
      secret: approver,
    });
    expect((await decide(revocationReply.body.id, 'approve')).status).toBe(200);
    await expectInvalid(requestedApproval);

    const shortLivedSecret = await createSecret(1);
    await app.advance(23 * 3_600_000);
    const lateApproval = await requestBy(shortLivedSecret);
    await app.advance(3_600_000);
    await expectInvalid(lateApproval);
  });
});

describe('a policy', () => {
  it('is rejected for an operation that cannot require an approval', async () => {
    const secret = await operatorSecret('Requester');
    for (const operationId of [
      'listOperatorTokens',
      'searchCustomers',
      'applyRetention',
      'approveChange',
      'resendEventOfPlatform',
      'setOwnPassword',
      'nothing',
    ]) {
      const body = { operationId, hours: 1 };
      const { status } = await client.call('POST', '/approval-policies', { body, secret });
      expect([operationId, status]).toEqual([operationId, 400]);
    }
  });

  it('is rejected with every field that prevents it from applying', async () => {
    const readInvalidFields = async (body: object) => {
      const policy = { operationId: 'settleTransfer', hours: 1, ...body };
      const reply = await client.call('POST', '/approval-policies', { body: policy });
      expect(reply.status).toBe(400);
      return reply.body.details.errors.map(({ field }: { field: string }) => field);
    };
    const platformId = 'PlatformConfig:00000000-0000-7000-8000-000000000000';
    const minimum = { amount: 1, currency: 'NOPE' };
    expect(await readInvalidFields({ platformId, minimum })).toEqual([
      'platformId',
      'minimum.currency',
    ]);
    const usd = { amount: 1, currency: 'USD' };
    expect(await readInvalidFields({ operationId: 'setPaymentLimit', minimum: usd })).toEqual([
      'minimum',
    ]);
    const ownPolicy = { operationId: 'revokeOperatorToken', platformId: app.platform.id };
    expect(await readInvalidFields(ownPolicy)).toEqual(['platformId']);
    for (const operationId of ['resetPlatform', 'createPlatformFixtures', 'changePlatformClock']) {
      expect(await readInvalidFields({ operationId })).toEqual(['operationId']);
    }
  });

  it('of one platform applies to changes that include that platform', async () => {
    const platformPolicy = {
      operationId: 'settleTransfer',
      platformId: app.platform.id,
      hours: 1,
    };
    const { id: platformPolicyId } = await createPolicy(
      app.runtime,
      COMMAND_OPERATOR,
      platformPolicy,
    );
    const changeOf = (...platforms: TestPlatform[]) => ({
      ...emptyChangeSet(),
      inserts: platforms.map(({ id }) => ({ table: transactions, row: { id, platform_id: id } })),
    });
    const checkPolicies = async (set: ChangeSet, commits = 0) => {
      const check = requirePolicies(app.runtime, 'settleTransfer');
      const error: unknown = await check(set, commits).then(
        () => undefined,
        (thrown) => thrown,
      );
      return isApprovalNeeded(error) || (error as { code?: string } | undefined)?.code || false;
    };
    expect(await checkPolicies(changeOf(app.other))).toBe(false);
    expect(await checkPolicies(changeOf(app.platform))).toBe(true);
    expect(await checkPolicies(changeOf(app.other, app.platform))).toBe(true);
    // An approval is only possible before the first commit.
    expect(await checkPolicies(changeOf(app.platform), 1)).toBe('CONFLICT');
    expect(await checkPolicies(changeOf(app.other), 1)).toBe(false);
    await removePolicy(app.runtime, platformPolicyId);
  });

  it('applies until it is removed', async () => {
    const removedReply = await client.call('DELETE', `/approval-policies/${policyId}`);
    expect(removedReply.status).toBe(200);
    const { reply } = await requestRevocation();
    expect([reply.status, reply.body.status]).toEqual([200, 'REVOKED']);
    policyId = '';
  });
});
