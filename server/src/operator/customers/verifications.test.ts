// Manual identity verification in production and in the sandbox. A decision of the operator emits
// the same events as a decision of an identity service.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { openOnboarding } from '../../../test/kit/customers/onboarding.ts';
import { documentForm, pdfFile } from '../../../test/kit/http/documents.ts';

const fixture = openForFile(openOnboarding);
let platform: TestPlatform;
beforeAll(async () => {
  platform = await fixture.createPlatform('default', 'production');
});

const run = (...argv: string[]) => commandRunner(fixture.app)(argv);

async function runJson(...argv: string[]) {
  const { code, out, err } = await run(...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

async function expectRejected(text: string, ...argv: string[]) {
  const { code, out, err } = await run(...argv);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(text);
}

async function expectInvalidUsage(text: string, ...argv: string[]) {
  const { code, err } = await run(...argv);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
}

/** A person under review. */
async function createPersonInReview(owner = platform, fullName = 'Ada Lovelace 001') {
  const { id } = await fixture.createPerson(owner, fullName);
  const passport = await fixture.addDocument(owner, id, 'PASSPORT');
  const submittedReply = ok(await fixture.submitVerification(owner, id), 200);
  expect(submittedReply.verificationStatus).toBe('PENDING_MANUAL_REVIEW');
  return { id: id as string, passport: passport.id, verification: submittedReply.id as string };
}

const PENDING_EVENT_TYPES = ['VERIFICATION.PENDING_MANUAL_REVIEW', 'CUSTOMER.KYC_PENDING'];

describe('verifications list', () => {
  it('lists pending verifications of one platform or all, paginated', async () => {
    const ownPlatform = await fixture.createPlatform('default', 'production');
    const verificationIds: string[] = [];
    for (let index = 0; index < 3; index++) {
      fixture.app.effects.set(fixture.app.effects.now() + 1_000);
      verificationIds.push((await createPersonInReview(ownPlatform)).verification);
    }
    const idsOf = (rows: { verificationId: string }[]) => rows.map((each) => each.verificationId);
    const command = ['verifications', 'list', '--platform', ownPlatform.id];
    expect(idsOf(await runJson(...command))).toEqual(verificationIds);
    expect(idsOf(await runJson(...command, '--limit', '2'))).toEqual(verificationIds.slice(0, 2));
    expect(idsOf(await runJson(...command, '--after', verificationIds[0] as string))).toEqual(
      verificationIds.slice(1),
    );
    await runJson('verifications', 'approve', verificationIds[1] as string);
    expect(idsOf(await runJson(...command))).toEqual([verificationIds[0], verificationIds[2]]);
    expect(idsOf(await runJson(...command, '--status', 'APPROVED'))).toEqual([verificationIds[1]]);
    expect((await run(...command)).out).toMatch(
      /^SINCE +VERIFICATION +STATUS +CUSTOMER +PLATFORM\n/,
    );
    expect(idsOf(await runJson('verifications', 'list'))).toEqual(
      expect.arrayContaining([verificationIds[2]]),
    );
  });

  it('omits deleted customers, for whom no decision is possible', async () => {
    const ownPlatform = await fixture.createPlatform('default', 'production');
    const { id } = await createPersonInReview(ownPlatform);
    const { verification } = await createPersonInReview(ownPlatform);
    ok(
      await fixture.app.call('DELETE', `/customers/${id}`, undefined, { platform: ownPlatform }),
      200,
    );
    const rows = await runJson('verifications', 'list', '--platform', ownPlatform.id);
    expect(rows).toMatchObject([{ verificationId: verification }]);
  });
});

describe('verifications show', () => {
  it('shows all data for a review, by the ID of the verification, customer or owner', async () => {
    const { id } = await fixture.createBusiness(platform, 'REG-9');
    const [owner] = await fixture.completeBusiness(platform, id);
    const { id: verificationId } = ok(await fixture.submitVerification(platform, id), 200);
    const view = await runJson('verifications', 'show', verificationId);
    expect(view).toMatchObject({
      verification: { verificationId, status: 'PENDING_MANUAL_REVIEW', errors: [] },
      ...{ status: 'PENDING', missing: [], customerId: id, type: 'BUSINESS' },
      details: { businessInfo: { legalName: 'Acme Inc', taxId: '12-3456789' } },
      owners: [{ id: owner?.id, status: 'PENDING', personalInfo: { identifier: '987-65-4321' } }],
    });
    expect(view.documents).toHaveLength(5);
    expect(await runJson('verifications', 'show', id)).toEqual(view);
    expect(await runJson('verifications', 'show', owner?.id as string)).toEqual(view);
    const { out } = await run('verifications', 'show', id);
    expect(out).toMatch(/^details\.businessInfo\.legalName +Acme Inc$/m);
    expect(out).toMatch(/^owners\.0\.personalInfo\.identifier +987-65-4321$/m);
  });

  it('lists the channels that the customer has not verified yet', async () => {
    const contact = { region: 'DE', email: 'a@example.de', phoneNumber: '+4915112345678' };
    const { id } = await fixture.createPerson(platform, 'Ada Lovelace', contact);
    const { contactVerification } = await runJson('verifications', 'show', id);
    expect(contactVerification).toEqual({ email: 'PENDING', phone: 'PENDING' });
  });

  it('lists the missing data before a submission', async () => {
    const { id } = await fixture.createPerson(platform, 'Ada Lovelace');
    const view = await runJson('verifications', 'show', id);
    expect(view).toMatchObject({
      verification: null,
      missing: [{ type: 'MISSING_IDENTITY_DOCUMENT' }],
    });
  });

  it('rejects unknown IDs', async () => {
    await expectRejected(
      'The verification, customer or owner was not found',
      'verifications',
      'show',
      'x',
    );
    const unknownId = `Customer:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`;
    await expectRejected('The customer was not found', 'verifications', 'show', unknownId);
  });
});

describe('a decision', () => {
  it('approves once and emits events', async () => {
    const { id, verification } = await createPersonInReview();
    expect(await runJson('verifications', 'approve', verification)).toMatchObject({
      ...{ verificationId: verification, customerId: id, status: 'APPROVED' },
      decidedBy: 'operator',
    });
    expect(await fixture.readStatuses(platform, id)).toEqual(['APPROVED']);
    const emittedTypes = [...PENDING_EVENT_TYPES, 'VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED'];
    expect(await fixture.readEventTypes(id)).toEqual(emittedTypes);
    for (const verb of ['approve', 'reject']) {
      await expectRejected('is APPROVED. This status is final', 'verifications', verb, id);
    }
    const error = ['--error', 'APPLICANT_FRAUD'];
    await expectRejected(
      'is APPROVED. This status is final',
      'verifications',
      'hold',
      id,
      ...error,
    );
    expect(await fixture.readEventTypes(id)).toEqual(emittedTypes);
    expect((await fixture.submitVerification(platform, id)).status).toBe(400);
  });

  it('rejects, with findings', async () => {
    const { id, verification } = await createPersonInReview();
    const argv = ['verifications', 'reject', id, '--error', 'APPLICANT_SANCTIONED'];
    expect(await runJson(...argv)).toMatchObject({
      verificationId: verification,
      status: 'REJECTED',
    });
    const path = `/verifications/${verification}`;
    expect(ok(await fixture.app.call('GET', path, undefined, { platform }), 200)).toMatchObject({
      verificationStatus: 'REJECTED',
      errors: [{ resourceId: id, type: 'APPLICANT_SANCTIONED' }],
    });
    expect((await fixture.readEventTypes(id)).slice(2)).toEqual([
      ...['VERIFICATION.REJECTED', 'CUSTOMER.KYC_REJECTED'],
    ]);
  });

  it('holds, with all findings, until a new submission', async () => {
    const { id, passport, verification } = await createPersonInReview();
    const errors = `EXPIRED_DOCUMENT@${passport},INVALID_FIELD@${id}#birthDate`;
    const argv = ['verifications', 'hold', verification, '--error', errors];
    await runJson(...argv, '--reason', 'The dates differ.');
    const path = `/verifications/${verification}`;
    const { body } = await fixture.app.call('GET', path, undefined, { platform });
    expect([body.verificationStatus, body.errors]).toEqual([
      'RESOLVE_ERRORS',
      [
        {
          ...{ resourceId: passport, type: 'EXPIRED_DOCUMENT', reason: 'The dates differ.' },
          acceptedDocumentTypes: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'],
        },
        {
          ...{ resourceId: id, type: 'INVALID_FIELD', field: 'birthDate' },
          reason: 'The dates differ.',
        },
      ],
    ]);
    expect(await fixture.readStatuses(platform, id)).toEqual(['HOLD']);
    expect(await fixture.readEventTypes(id)).toEqual([
      ...PENDING_EVENT_TYPES,
      'VERIFICATION.RESOLVE_ERRORS',
    ]);
    const repeatedSubmission = ok(await fixture.submitVerification(platform, id), 200);
    expect([repeatedSubmission.verificationStatus, repeatedSubmission.errors]).toEqual([
      'RESOLVE_ERRORS',
      body.errors,
    ]);
    expect(await fixture.readStatuses(platform, id)).toEqual(['HOLD']);
    fixture.app.effects.set(fixture.app.effects.now() + 1);
    const fields = { documentType: 'PASSPORT', country: 'US', documentNumber: 'X-2' };
    const form = documentForm({ ...fields, issuingAuthority: 'State' }, { bytes: pdfFile() });
    ok(await fixture.app.call('PUT', `/documents/${passport}`, form, { platform }), 200);
    const change = { customerType: 'INDIVIDUAL', birthDate: '1990-01-16' };
    ok(await fixture.app.call('PATCH', `/customers/${id}`, change, { platform }), 200);
    const secondSubmission = ok(await fixture.submitVerification(platform, id), 200);
    expect(await fixture.readStatuses(platform, id)).toEqual(['PENDING']);
    await expectRejected(
      'A later verification has replaced this verification',
      'verifications',
      'approve',
      verification,
    );
    await runJson('verifications', 'approve', secondSubmission.id);
    expect(await fixture.readStatuses(platform, id)).toEqual(['APPROVED']);
  });

  it('needs no submission, and creates a separate verification', async () => {
    const { id } = await fixture.createPerson(platform, 'Ada Lovelace');
    const { verificationId } = await runJson('verifications', 'approve', id);
    expect(await fixture.readEventTypes(id)).toEqual([
      'VERIFICATION.APPROVED',
      'CUSTOMER.KYC_APPROVED',
    ]);
    const path = `/verifications?customerId=${id}`;
    const { body } = await fixture.app.call('GET', path, undefined, { platform });
    expect(body.data).toMatchObject([{ id: verificationId, verificationStatus: 'APPROVED' }]);
  });

  it('includes the beneficial owners, or applies to one of them only', async () => {
    const { id } = await fixture.createBusiness(platform, 'REG-10');
    const owners = await fixture.completeBusiness(platform, id, ['Hopper', 'Lamarr']);
    ok(await fixture.submitVerification(platform, id), 200);
    const [firstOwner, secondOwner] = owners.map((each) => each.id) as [string, string];
    expect(await fixture.readStatuses(platform, id)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    const emittedTypes = await fixture.readEventTypes(id);
    expect(await runJson('verifications', 'reject', firstOwner)).toEqual({
      ...{ platformId: platform.id, ownerId: firstOwner, customerId: id, status: 'REJECTED' },
    });
    await runJson('verifications', 'hold', secondOwner);
    expect(await fixture.readEventTypes(id)).toEqual(emittedTypes);
    await expectRejected('The owner is REJECTED', 'verifications', 'approve', firstOwner);
    await runJson(
      'verifications',
      'hold',
      id,
      '--error',
      `INVALID_FIELD@${secondOwner}#personalInfo.birthDate`,
    );
    expect(await fixture.readStatuses(platform, id)).toEqual(['HOLD', 'REJECTED', 'HOLD']);
    await runJson('verifications', 'approve', id);
    expect(await fixture.readStatuses(platform, id)).toEqual(['APPROVED', 'REJECTED', 'APPROVED']);
  });

  it('prevents the deletion of the documents that it is based on', async () => {
    const { id } = await fixture.createBusiness(platform, 'REG-11');
    const [owner] = await fixture.completeBusiness(platform, id);
    await runJson('verifications', 'reject', owner?.id as string);
    await runJson('verifications', 'approve', id);
    for (const holder of [owner?.id, id]) {
      const path = `/documents?documentHolder=${holder}`;
      const { data } = ok(await fixture.app.call('GET', path, undefined, { platform }), 200);
      const deletionReply = await fixture.app.call(
        'DELETE',
        `/documents/${data[0].id}`,
        undefined,
        { platform },
      );
      expect([deletionReply.status, deletionReply.body.code]).toEqual([409, 'CONFLICT']);
    }
  });

  it('is possible in the sandbox while the verification is under review', async () => {
    const sandbox = await fixture.createPlatform('default');
    const { id } = await createPersonInReview(sandbox);
    await runJson('verifications', 'approve', id);
    expect(await fixture.readStatuses(sandbox, id)).toEqual(['APPROVED']);
  });

  it('rejects invalid usage', async () => {
    const { id, passport } = await createPersonInReview();
    const hold = (...args: string[]) => ['verifications', 'hold', id, ...args];
    await expectInvalidUsage('--error is required, except for a beneficial owner', ...hold());
    await expectInvalidUsage('not OTHER_ERROR', ...hold('--error', 'OTHER_ERROR'));
    await expectInvalidUsage('MISSING_FIELD needs a #FIELD', ...hold('--error', 'MISSING_FIELD'));
    await expectInvalidUsage(
      'APPLICANT_FRAUD must not have a #FIELD',
      ...hold('--error', 'APPLICANT_FRAUD#x'),
    );
    await expectInvalidUsage(
      'EXPIRED_DOCUMENT needs @Document',
      ...hold('--error', 'EXPIRED_DOCUMENT'),
    );
    const { passport: otherPassport } = await createPersonInReview();
    const argvWithOtherPassport = hold('--error', `EXPIRED_DOCUMENT@${otherPassport}`);
    await expectRejected('does not belong to this customer', ...argvWithOtherPassport);
    expect(passport).not.toBe(otherPassport);
    const deletedPersonId = (await fixture.createPerson(platform, 'Ada Lovelace')).id;
    ok(
      await fixture.app.call('DELETE', `/customers/${deletedPersonId}`, undefined, { platform }),
      200,
    );
    await expectRejected('was deleted', 'verifications', 'approve', deletedPersonId);
    expect(await fixture.readStatuses(platform, id)).toEqual(['PENDING']);
  });
});
