// Operations of manual identity verification.
import { beforeAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../test/kit/app/harness.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { openOnboarding } from '../../../test/kit/customers/onboarding.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const fixture = openForFile(openOnboarding);
let platform: TestPlatform;
let client: ReturnType<typeof operatorClient>;
beforeAll(async () => {
  platform = await fixture.createPlatform('default', 'production');
  client = operatorClient(fixture.app);
});

/** Creates a person under review. Returns the IDs of the person and of the verification. */
async function createPersonInReview() {
  const { id } = await fixture.createPerson(platform, 'Ada Lovelace 001');
  await fixture.addDocument(platform, id, 'PASSPORT');
  const verification = ok(await fixture.submitVerification(platform, id), 200);
  return { id: id as string, verificationId: verification.id as string };
}

const post = (id: string, action: string, body: object = {}, secret?: string) =>
  client.call('POST', `/verifications/${id}/${action}`, { body, ...(secret ? { secret } : {}) });

async function recordsOf(subject: string) {
  const reply = await client.call('GET', `/audit-records?outcome=SUCCEEDED&subject=${subject}`);
  return ok(reply, 200).data as Record<string, unknown>[];
}

it('the API lists the queue in pages, shows a case, and records the access', async () => {
  const [firstCustomer, secondCustomer] = [
    await createPersonInReview(),
    await createPersonInReview(),
  ];
  const path = `/verifications?platformId=${platform.id}&limit=1`;
  const firstPage = ok(await client.call('GET', path), 200);
  expect(firstPage).toMatchObject({
    data: [{ verificationId: firstCustomer.verificationId }],
    hasMore: true,
  });
  const secondPage = ok(await client.call('GET', `${path}&cursor=${firstPage.nextCursor}`), 200);
  expect(secondPage).toMatchObject({
    data: [{ verificationId: secondCustomer.verificationId }],
    hasMore: false,
  });

  const details = ok(await client.call('GET', `/verifications/${firstCustomer.id}`), 200);
  expect(details).toMatchObject({
    verification: { verificationId: firstCustomer.verificationId },
    ...{ customerId: firstCustomer.id, platformId: platform.id, status: 'PENDING', missing: [] },
  });
  expect(details.details.fullName).toBe('Ada Lovelace 001');
  expect(await recordsOf(firstCustomer.id)).toMatchObject([
    { operationId: 'getVerificationCase', customerId: firstCustomer.id, hasChanges: false },
  ]);
  // The call also fails if an earlier reply did not match its contract.
  expect((await fixture.app.call('GET', '/config')).status).toBe(200);
});

it('the API approves and rejects verifications, and requests corrections', async () => {
  const [firstCustomer, secondCustomer, thirdCustomer] = [
    await createPersonInReview(),
    await createPersonInReview(),
    await createPersonInReview(),
  ];
  const approvedCase = ok(
    await post(firstCustomer.id, 'approve', { reason: 'Passport seen' }),
    200,
  );
  expect(approvedCase).toMatchObject({ status: 'APPROVED', decidedBy: 'operator' });
  expect(await recordsOf(firstCustomer.id)).toMatchObject([
    { operationId: 'approveVerification', reason: 'Passport seen', platformId: platform.id },
  ]);
  const input = { reason: 'The passport is forged' };
  expect(await post(firstCustomer.id, 'reject', input)).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT' },
  });

  const findings = [{ type: 'APPLICANT_SANCTIONED' }];
  const replyWithoutReason = await post(secondCustomer.id, 'reject', { findings });
  expect([replyWithoutReason.status, replyWithoutReason.body.details.errors[0].field]).toEqual([
    400,
    'reason',
  ]);
  expect(ok(await post(secondCustomer.id, 'reject', { findings, ...input }), 200)).toMatchObject({
    status: 'REJECTED',
    errors: [{ type: 'APPLICANT_SANCTIONED', resourceId: secondCustomer.id }],
  });

  expect(await post(thirdCustomer.id, 'hold')).toMatchObject({ status: 400 });
  const invalidFindings = [{ type: 'MISSING_FIELD' }, { type: 'INVALID_DOCUMENT' }];
  for (const findings of [[{}], [null], ['x'], 'x', [{ type: 'toString' }]]) {
    expect((await post(thirdCustomer.id, 'hold', { findings })).status).toBe(400);
  }
  const { status, body } = await post(thirdCustomer.id, 'hold', { findings: invalidFindings });
  expect(status).toBe(400);
  expect(body.details.errors.map((each: { field: string }) => each.field)).toEqual([
    'findings.0.field',
    'findings.1.resourceId',
  ]);
  const fieldFindings = [{ type: 'INVALID_FIELD', field: 'birthDate', reason: 'Unreadable' }];
  expect(ok(await post(thirdCustomer.id, 'hold', { findings: fieldFindings }), 200)).toMatchObject({
    status: 'RESOLVE_ERRORS',
    errors: [{ field: 'birthDate', reason: 'Unreadable' }],
  });
  // The call also fails if an earlier reply did not match its contract.
  expect((await fixture.app.call('GET', '/config')).status).toBe(200);
});

it('a decision can concern one owner of a business', async () => {
  const { id } = await fixture.createBusiness(platform, 'REG-20');
  const [owner] = await fixture.completeBusiness(platform, id);
  ok(await fixture.submitVerification(platform, id), 200);
  const ownerId = owner?.id as string;
  expect(ok(await post(ownerId, 'approve'), 200)).toEqual({
    ...{ platformId: platform.id, customerId: id, ownerId, status: 'APPROVED' },
  });
  // The call also fails if an earlier reply did not match its contract.
  expect((await fixture.app.call('GET', '/config')).status).toBe(200);
});

it('the API hides customers of other platforms', async () => {
  const { id } = await createPersonInReview();
  const otherPlatform = await fixture.createPlatform('default', 'production');
  const secret = await client.secretOf({ platformIds: [otherPlatform.id] });
  expect((await client.call('GET', `/verifications/${id}`, { secret })).status).toBe(404);
  expect((await post(id, 'approve', {}, secret)).status).toBe(404);
  expect(await fixture.readStatuses(platform, id)).toEqual(['PENDING']);
  expect(ok(await client.call('GET', '/verifications', { secret }), 200).data).toEqual([]);
  const foreignPath = `/verifications?platformId=${platform.id}`;
  expect((await client.call('GET', foreignPath, { secret })).status).toBe(404);
});
