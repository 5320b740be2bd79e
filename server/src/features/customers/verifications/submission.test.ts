// Submission of verifications: events, findings, rejections, lists and concurrent requests.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { openOnboarding, PERSON } from '../../../../test/kit/customers/onboarding.ts';
import { documentForm, pdfFile } from '../../../../test/kit/http/documents.ts';
import { beneficialOwners } from '../owners/owners.ts';
import { customers } from '../records/store.ts';
import { decide } from './decide.ts';
import { requirementsOf, type VerificationError } from './index.ts';
import { latestOf } from './record.ts';
import { verifications } from './store.ts';

const harness = openForFile(openOnboarding);
let platform: TestPlatform;
beforeAll(async () => {
  platform = await harness.createPlatform('default');
});

const readResource = (path: string, caller = platform) =>
  harness.app.call('GET', path, undefined, { platform: caller });

/** An individual with complete data. */
async function createCompleteCustomer(fullName: string, overrides: object = {}) {
  const { id } = await harness.createPerson(platform, fullName, overrides);
  await harness.addDocument(platform, id, 'PASSPORT');
  return id as string;
}

const readCustomerRow = async (id: string) => {
  const customer = await harness.app.runtime.db.read(customers, id);
  if (!customer) throw new Error('The customer was not found.');
  return customer;
};

describe('createVerification', () => {
  it('returns the verification and emits it as an event', async () => {
    const { id } = await harness.createPerson(platform, 'Ada', { nationality: undefined });
    const verification = ok(await harness.submitVerification(platform, id), 200);
    expect(verification).toEqual({
      id: expect.stringMatching(/^Verification:[0-9a-f-]{36}$/),
      customerId: id,
      verificationStatus: 'RESOLVE_ERRORS',
      errors: [
        {
          ...{ resourceId: id, type: 'MISSING_FIELD', field: 'nationality' },
          reason: expect.any(String),
        },
        {
          ...{ resourceId: id, type: 'INVALID_FIELD', field: 'fullName' },
          reason: expect.any(String),
        },
        {
          ...{ resourceId: id, type: 'MISSING_IDENTITY_DOCUMENT', reason: expect.any(String) },
          acceptedDocumentTypes: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'],
        },
      ],
      createdAt: '2026-01-05T09:00:00.000Z',
      updatedAt: '2026-01-05T09:00:00.000Z',
    });
    expect(ok(await readResource(`/verifications/${verification.id}`), 200)).toEqual(verification);
    const event = (await harness.app.events()).find((each) => each.subject === verification.id);
    expect([event?.type, event?.data]).toEqual(['VERIFICATION.RESOLVE_ERRORS', verification]);
  });

  it('stores the findings encrypted', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace');
    const verification = ok(await harness.submitVerification(platform, id), 200);
    const [storedRow] = await harness.app.runtime.db.query(
      'select * from verifications where id = $1',
      [verification.id],
    );
    expect(JSON.stringify(storedRow)).not.toContain('MISSING');
    const eraseSql = 'update customers set data_key = null, personal = null where id = $1';
    await harness.app.runtime.db.query(eraseSql, [id]);
    expect(ok(await readResource(`/verifications/${verification.id}`), 200).errors).toEqual([]);
    expect(ok(await readResource(`/verifications?customerId=${id}`), 200).data[0].errors).toEqual(
      [],
    );
  });

  it('rejects customers that are unknown, deleted, decided or of another platform', async () => {
    const submit = async (id: string, caller = platform) => {
      const { status, body } = await harness.submitVerification(caller, id);
      return [status, body.code];
    };
    const person = await createCompleteCustomer('Ada Lovelace');
    for (const id of ['unknown', `Customer:${person.slice(-36, -4)}0000`, `${person}x`]) {
      expect(await submit(id)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    expect(await submit(person, harness.app.other)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    expect(await submit(person)).toEqual([200, undefined]);
    expect(await submit(person)).toEqual([400, 'INVALID_INPUT']);
    const deletedPersonId = (await harness.createPerson(platform, 'Ada Lovelace')).id;
    ok(
      await harness.app.call('DELETE', `/customers/${deletedPersonId}`, undefined, {
        platform,
      }),
      200,
    );
    expect(await submit(deletedPersonId)).toEqual([410, 'CUSTOMER_DELETED']);
    const emptyBodyResponse = await harness.app.call('POST', '/verifications', {}, { platform });
    expect([emptyBodyResponse.status, emptyBodyResponse.body.details.errors[0].field]).toEqual([
      400,
      'customerId',
    ]);
  });

  it('rejects customers with unverified contacts', async () => {
    const contact = { region: 'DE', email: 'a@example.de', phoneNumber: '+4915112345678' };
    const id = await createCompleteCustomer('Ada Lovelace', contact);
    const response = await harness.submitVerification(platform, id);
    expect([response.status, response.body.code]).toEqual([409, 'CONFLICT']);
    await harness.app.operate(async (ctx) => {
      const customerRow = await ctx.read(customers, id);
      const contact_verification = { email: 'VERIFIED', phone: 'VERIFIED' } as const;
      if (customerRow) ctx.update(customers, customerRow, { contact_verification });
    }, platform);
    expect(ok(await harness.submitVerification(platform, id), 200).verificationStatus).toBe(
      'APPROVED',
    );
  });

  it('creates one verification for a repeated idempotency key', async () => {
    const id = await createCompleteCustomer('Ada Lovelace 001');
    const headers = { 'idempotency-key': `submit ${id}` };
    const send = () =>
      harness.app.call('POST', '/verifications', { customerId: id }, { platform, headers });
    const firstBody = ok(await send(), 200);
    expect(ok(await send(), 200)).toEqual(firstBody);
    expect(ok(await readResource(`/verifications?customerId=${id}`), 200).data).toHaveLength(1);
  });

  it('rejects the deletion of submitted documents', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace 003');
    const passport = await harness.addDocument(platform, id, 'PASSPORT');
    ok(await harness.submitVerification(platform, id), 200);
    const deletionResponse = await harness.app.call(
      'DELETE',
      `/documents/${passport.id}`,
      undefined,
      {
        platform,
      },
    );
    expect([deletionResponse.status, deletionResponse.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('permits the deletion of documents of an incomplete submission', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace 001', {
      birthDate: undefined,
    });
    const passport = await harness.addDocument(platform, id, 'PASSPORT');
    ok(await harness.submitVerification(platform, id), 200);
    ok(await harness.app.call('DELETE', `/documents/${passport.id}`, undefined, { platform }), 204);
  });
});

describe('listVerifications', () => {
  it('filters and pages verifications of the platform, newest first', async () => {
    const ownPlatform = await harness.createPlatform('default');
    const person = await harness.createPerson(ownPlatform, 'Ada Lovelace 001');
    const otherPerson = await harness.createPerson(ownPlatform, 'Grace Hopper 001');
    const ids: string[] = [];
    for (const id of [person.id, otherPerson.id, person.id]) {
      harness.app.effects.set(harness.app.effects.now() + 1_000);
      ids.unshift(ok(await harness.submitVerification(ownPlatform, id), 200).id);
    }
    await harness.addDocument(ownPlatform, person.id, 'PASSPORT');
    ids.unshift(ok(await harness.submitVerification(ownPlatform, person.id), 200).id);
    const list = async (query: string, caller = ownPlatform) =>
      ok(await readResource(`/verifications?${query}`, caller), 200);
    const idsOf = (page: { data: { id: string }[] }) => page.data.map((each) => each.id);
    expect(idsOf(await list(''))).toEqual(ids);
    expect(idsOf(await list(`customerId=${otherPerson.id}`))).toEqual([ids[2]]);
    expect(idsOf(await list('verificationStatus=PENDING_MANUAL_REVIEW'))).toEqual([ids[0]]);
    expect(idsOf(await list('verificationStatus=IN_PROGRESS'))).toEqual([]);
    const firstPage = await list('limit=3');
    expect([idsOf(firstPage), firstPage.hasMore]).toEqual([ids.slice(0, 3), true]);
    const secondPage = await list(`limit=3&cursor=${encodeURIComponent(firstPage.nextCursor)}`);
    expect([idsOf(secondPage), secondPage.hasMore]).toEqual([ids.slice(3), false]);
    expect(idsOf(await list(`customerId=${person.id}`, harness.app.other))).toEqual([]);
    for (const query of ['verificationStatus=DONE', 'limit=0', 'cursor=x']) {
      expect((await readResource(`/verifications?${query}`, ownPlatform)).status).toBe(400);
    }
  });
});

describe('getVerification', () => {
  it('returns 404 for a verification of another platform', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace');
    const verification = ok(await harness.submitVerification(platform, id), 200);
    const otherResponse = await readResource(
      `/verifications/${verification.id}`,
      harness.app.other,
    );
    expect([otherResponse.status, otherResponse.body.code]).toEqual([
      404,
      'VERIFICATION_NOT_FOUND',
    ]);
  });
});

describe('requirementsOf', () => {
  const deps = { connectors: () => ({}) };
  const readRequirements = (id: string) =>
    harness.app.operate(
      async (ctx) => requirementsOf(ctx, deps, await readCustomerRow(id)),
      platform,
    );
  const advanceClock = () => harness.app.effects.set(harness.app.effects.now() + 1);

  it('returns missing data and stages nothing', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace');
    const { gaps, findings } = await readRequirements(id);
    expect(gaps.map((each) => each.type)).toEqual(['MISSING_IDENTITY_DOCUMENT']);
    expect(findings).toEqual([]);
    expect(ok(await readResource(`/verifications?customerId=${id}`), 200).data).toEqual([]);
  });

  it('returns findings until their resource changes', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace 001');
    await harness.addDocument(platform, id, 'PASSPORT');
    await harness.submitVerification(platform, id);
    const [document] = ok(await readResource(`/documents?documentHolder=${id}`), 200).data;
    const errorOf = (resourceId: string, type: string, overrides = {}) => ({
      ...{ resourceId, type, reason: 'Please' },
      ...overrides,
    });
    const acceptedTypes = { acceptedDocumentTypes: ['UTILITY_BILL'] };
    const errors = [
      errorOf(document.id, 'UNREADABLE_DOCUMENT'),
      errorOf(id, 'INVALID_FIELD', { field: 'address' }),
      errorOf(id, 'MISSING_PROOF_OF_ADDRESS_DOCUMENT', acceptedTypes),
    ] as VerificationError[];
    await harness.app.operate(
      async (ctx) =>
        void (await decide(ctx, await readCustomerRow(id), { state: 'unresolved', errors })),
      platform,
    );
    const readOpenTypes = async () =>
      (await readRequirements(id)).findings.map((each) => each.type);
    expect((await readRequirements(id)).findings).toEqual(errors);
    expect((await harness.submitVerification(platform, id)).body).toMatchObject({
      ...{ verificationStatus: 'RESOLVE_ERRORS', errors },
    });
    expect((await readCustomerRow(id)).status).toBe('HOLD');
    advanceClock();
    await harness.addDocument(platform, id, 'UTILITY_BILL');
    expect(await readOpenTypes()).toEqual(['UNREADABLE_DOCUMENT', 'INVALID_FIELD']);
    const change = { customerType: 'INDIVIDUAL', address: { ...PERSON.address, line1: '2 Main' } };
    ok(await harness.app.call('PATCH', `/customers/${id}`, change, { platform }), 200);
    expect(await readOpenTypes()).toEqual(['UNREADABLE_DOCUMENT']);
    const fields = { documentType: 'PASSPORT', country: 'US', documentNumber: 'X-2' };
    const form = documentForm({ ...fields, issuingAuthority: 'State' }, { bytes: pdfFile() });
    ok(await harness.app.call('PUT', `/documents/${document.id}`, form, { platform }), 200);
    expect(await readOpenTypes()).toEqual([]);
    expect((await harness.submitVerification(platform, id)).body.verificationStatus).toBe(
      'PENDING_MANUAL_REVIEW',
    );
  });
});

describe('concurrent requests', () => {
  const readEventTypes = (id: string) => harness.readEventTypes(id);

  it('serialize submissions, the last of which is authoritative', async () => {
    const id = await createCompleteCustomer('Ada Lovelace 001');
    const responses = await Promise.all(
      [1, 2, 3, 4].map(() => harness.submitVerification(platform, id)),
    );
    expect(responses.map((each) => each.status)).toEqual([200, 200, 200, 200]);
    const rows = await harness.app.runtime.db.find(verifications, { customer_id: id });
    expect([rows.length, rows.filter((each) => each.latest).length]).toEqual([4, 1]);
    const types = await readEventTypes(id);
    expect(types.filter((type) => type === 'CUSTOMER.KYC_PENDING')).toHaveLength(1);
    expect(types.slice(0, 2)).toEqual([
      'VERIFICATION.PENDING_MANUAL_REVIEW',
      'CUSTOMER.KYC_PENDING',
    ]);
  });

  it('decide once for several submissions', async () => {
    const id = await createCompleteCustomer('Ada Lovelace');
    const responses = await Promise.all(
      [1, 2, 3].map(() => harness.submitVerification(platform, id)),
    );
    expect(responses.map((each) => each.status).sort()).toEqual([200, 400, 400]);
    expect(await readEventTypes(id)).toEqual(['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED']);
  });

  it('keep a decision and a resubmission consistent', async () => {
    for (let round = 0; round < 6; round++) {
      const id = await createCompleteCustomer('Ada Lovelace 001');
      ok(await harness.submitVerification(platform, id), 200);
      const eventTypesBefore = await readEventTypes(id);
      const approvalOperation = harness.app.operate(async (ctx) => {
        const customer = await ctx.read(customers, id);
        if (customer) await decide(ctx, customer, { state: 'approved' });
      }, platform);
      const [response] = await Promise.all([
        harness.submitVerification(platform, id),
        approvalOperation,
      ]);
      expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
      const latestVerification = await latestOf(harness.app.runtime, id);
      expect([latestVerification?.status, latestVerification?.decided_by]).toEqual([
        'APPROVED',
        'operator',
      ]);
      const resubmissionEvents =
        response.status === 200 ? ['VERIFICATION.PENDING_MANUAL_REVIEW'] : [];
      expect(await readEventTypes(id)).toEqual([
        ...[...eventTypesBefore, ...resubmissionEvents],
        ...['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED'],
      ]);
    }
  });

  it('apply only the first of two decisions', async () => {
    const id = await createCompleteCustomer('Ada Lovelace 001');
    ok(await harness.submitVerification(platform, id), 200);
    const decideAs = (state: 'approved' | 'rejected') =>
      harness.app.operate(async (ctx) => {
        const customer = await ctx.read(customers, id);
        if (customer) await decide(ctx, customer, { state });
      }, platform);
    const results = await Promise.allSettled([decideAs('approved'), decideAs('rejected')]);
    expect(results.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    const expectedStatus = results[0]?.status === 'fulfilled' ? 'APPROVED' : 'REJECTED';
    expect(await harness.readStatuses(platform, id)).toEqual([expectedStatus]);
    expect((await readEventTypes(id)).slice(2)).toEqual([
      ...[`VERIFICATION.${expectedStatus}`, `CUSTOMER.KYC_${expectedStatus}`],
    ]);
  });

  it('include a concurrent change of an owner in the submission', async () => {
    const { id } = await harness.createBusiness(platform, 'REG-1');
    const [owner] = await harness.completeBusiness(platform, id);
    const changeOperation = harness.app.operate(async (ctx) => {
      const ownerRow = await ctx.read(beneficialOwners, owner?.id as string);
      if (ownerRow) ctx.update(beneficialOwners, ownerRow, { share: 31, updated_at: ctx.now });
    }, platform);
    const [response] = await Promise.all([
      harness.submitVerification(platform, id),
      changeOperation,
    ]);
    expect(ok(response, 200).verificationStatus).toBe('APPROVED');
    const storedOwner = await harness.app.runtime.db.read(beneficialOwners, owner?.id as string);
    expect([storedOwner?.status, storedOwner?.share]).toEqual(['APPROVED', 31]);
  });
});
