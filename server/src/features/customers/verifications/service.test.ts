// Production customers verified by a connected service. The service is a real HTTP server that is
// called synchronously and polled by jobs. It can be slow or unavailable, and another decision can
// precede its response.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { openOnboarding } from '../../../../test/kit/customers/onboarding.ts';
import { startIdentityService } from '../../../../test/kit/http/identity-service.ts';
import { customers } from '../records/store.ts';
import { decide } from './decide.ts';
import { latestOf } from './record.ts';

const MINUTE_MS = 60_000;

const service = openForFile(startIdentityService);
const harness = openForFile(() => openOnboarding({ connectors: { identityUrl: service.url } }));
let platform: TestPlatform;
beforeAll(async () => {
  platform = await harness.createPlatform('default', 'production');
});
beforeEach(() => void service.cases.splice(0));

const PENDING_EVENTS = ['VERIFICATION.PENDING_MANUAL_REVIEW', 'CUSTOMER.KYC_PENDING'];
const APPROVED_EVENTS = ['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED'];

async function createCompleteCustomer(fullName = 'Ada Lovelace'): Promise<string> {
  const { id } = await harness.createPerson(platform, fullName);
  await harness.addDocument(platform, id, 'PASSPORT');
  return id;
}

const submitCustomer = async (id: string) =>
  ok(await harness.submitVerification(platform, id), 200);

async function decideManually(id: string, state: 'approved' | 'rejected') {
  await harness.app.operate(async (ctx) => {
    const customer = await ctx.read(customers, id);
    if (customer) await decide(ctx, customer, { state });
  }, platform);
}

describe('a service', () => {
  it('is not called for incomplete data', async () => {
    const { id } = await harness.createPerson(platform, 'Ada Lovelace');
    service.respondWith({ state: 'approved' });
    expect((await submitCustomer(id)).verificationStatus).toBe('RESOLVE_ERRORS');
    expect(service.cases).toEqual([]);
  });

  it('receives the complete case and can decide immediately', async () => {
    service.respondWith({ state: 'approved' });
    const id = await createCompleteCustomer('Ada Lovelace 002');
    const verification = await submitCustomer(id);
    expect(verification.verificationStatus).toBe('APPROVED');
    expect(service.cases).toMatchObject([
      {
        ...{ id: verification.id, customerId: id, platformId: platform.id, type: 'INDIVIDUAL' },
        identifier: '123-45-6789',
        details: { fullName: 'Ada Lovelace 002', nationality: 'US' },
        documents: [{ holder: id, documentType: 'PASSPORT', documentNumber: 'X-100' }],
      },
    ]);
    expect(await harness.readEventTypes(id)).toEqual(APPROVED_EVENTS);
  });

  it('that reports a review is polled until its decision', async () => {
    service.respondWith({ state: 'review', checkAfterMs: 5 * MINUTE_MS });
    const id = await createCompleteCustomer();
    const verification = await submitCustomer(id);
    expect(await harness.readEventTypes(id)).toEqual(PENDING_EVENTS);
    await harness.app.advance(6 * MINUTE_MS);
    expect(service.cases.map(({ id }) => id)).toEqual([verification.id, verification.id]);
    service.respondWith({ state: 'approved' });
    await harness.app.advance(5 * MINUTE_MS);
    expect(await harness.readEventTypes(id)).toEqual([...PENDING_EVENTS, ...APPROVED_EVENTS]);
    expect((await latestOf(harness.app.runtime, id))?.decided_by).toBe('connector');
    await harness.app.advance(60 * MINUTE_MS);
    expect(service.cases).toHaveLength(3);
  });

  it('that is unavailable delays the decision', async () => {
    service.respondWith((reply) => reply.socket?.destroy());
    const id = await createCompleteCustomer();
    expect((await submitCustomer(id)).verificationStatus).toBe('PENDING_MANUAL_REVIEW');
    await harness.app.advance(MINUTE_MS);
    service.respondWith({ state: 'rejected', findings: [{ type: 'APPLICANT_SANCTIONED' }] });
    await harness.app.advance(MINUTE_MS);
    expect(await harness.readStatuses(platform, id)).toEqual(['REJECTED']);
    const rejectionEvent = (await harness.app.events()).findLast(
      ({ type }) => type === 'VERIFICATION.REJECTED',
    );
    expect(rejectionEvent?.data.errors).toMatchObject([
      { resourceId: id, type: 'APPLICANT_SANCTIONED' },
    ]);
    expect(await harness.readEventTypes(id)).toEqual([
      ...PENDING_EVENTS,
      ...['VERIFICATION.REJECTED', 'CUSTOMER.KYC_REJECTED'],
    ]);
  });

  it('that remains unavailable is polled with increasing intervals', async () => {
    service.respondWith((reply) => reply.socket?.destroy());
    const id = await createCompleteCustomer();
    await submitCustomer(id);
    await harness.app.advance(24 * 60 * MINUTE_MS);
    expect(service.cases.length).toBeGreaterThan(30);
    expect(service.cases.length).toBeLessThan(100);
    service.respondWith({ state: 'approved' });
    await harness.app.advance(60 * MINUTE_MS);
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
  });

  it('can request more information, immediately or later', async () => {
    const findings = [{ type: 'EXPIRED_DOCUMENT', resourceId: 'Document:unknown', field: 'x' }];
    service.respondWith({ state: 'unresolved', findings });
    const id = await createCompleteCustomer();
    const firstVerification = await submitCustomer(id);
    // Findings about unknown resources are attributed to the customer, and only field findings have
    // a field.
    expect(firstVerification.errors).toEqual([
      { resourceId: id, type: 'EXPIRED_DOCUMENT', reason: expect.any(String) },
    ]);
    expect(await harness.readStatuses(platform, id)).toEqual(['UNVERIFIED']);
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    await submitCustomer(id);
    const [document] = service.cases.at(-1)?.documents ?? [];
    const finding = { type: 'EXPIRED_DOCUMENT', resourceId: document?.id, reason: 'Since May.' };
    service.respondWith({ state: 'unresolved', findings: [finding] });
    await harness.app.advance(2 * MINUTE_MS);
    expect(await harness.readStatuses(platform, id)).toEqual(['HOLD']);
    const latestEvent = (await harness.app.events()).findLast(
      ({ data }) => data?.customerId === id,
    );
    expect([latestEvent?.type, latestEvent?.data.errors]).toEqual([
      'VERIFICATION.RESOLVE_ERRORS',
      [{ ...finding, acceptedDocumentTypes: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'] }],
    ]);
    service.respondWith({ state: 'approved' });
    expect((await submitCustomer(id)).verificationStatus).toBe('APPROVED');
  });

  it('that decides after an operator has no effect', async () => {
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    const id = await createCompleteCustomer();
    await submitCustomer(id);
    await decideManually(id, 'rejected');
    service.respondWith({ state: 'approved' });
    const eventTypesBefore = await harness.readEventTypes(id);
    await harness.app.advance(5 * MINUTE_MS);
    expect(await harness.readStatuses(platform, id)).toEqual(['REJECTED']);
    expect(await harness.readEventTypes(id)).toEqual(eventTypesBefore);
  });

  it('that is called while an operator decides has no effect', async () => {
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    const id = await createCompleteCustomer();
    await submitCustomer(id);
    let operatorDecision: Promise<void> | undefined;
    service.respondWith((reply) => {
      operatorDecision = decideManually(id, 'rejected');
      void operatorDecision.then(() => reply.writeHead(200).end('{"state":"approved"}'));
    });
    await harness.app.advance(2 * MINUTE_MS);
    await operatorDecision;
    expect(await harness.readStatuses(platform, id)).toEqual(['REJECTED']);
    expect((await harness.readEventTypes(id)).slice(2)).toEqual([
      ...['VERIFICATION.REJECTED', 'CUSTOMER.KYC_REJECTED'],
    ]);
  });

  it('prevents deletion of documents uploaded before its decision', async () => {
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    const id = await createCompleteCustomer();
    await submitCustomer(id);
    const { id: utilityBillId } = await harness.addDocument(platform, id, 'UTILITY_BILL');
    service.respondWith({ state: 'approved' });
    await harness.app.advance(2 * MINUTE_MS);
    const { id: laterDocumentId } = await harness.addDocument(platform, id, 'BANK_STATEMENT');
    const deleteDocument = (documentId: string) =>
      harness.app.call('DELETE', `/documents/${documentId}`, undefined, { platform });
    expect([
      (await deleteDocument(utilityBillId)).status,
      (await deleteDocument(laterDocumentId)).status,
    ]).toEqual([409, 204]);
  });

  it('decides only the latest submission', async () => {
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    const id = await createCompleteCustomer();
    const firstVerification = await submitCustomer(id);
    service.respondWith({ state: 'review' });
    const secondVerification = await submitCustomer(id);
    service.respondWith((reply, { id: submittedId }) => {
      const state = submittedId === firstVerification.id ? 'rejected' : 'approved';
      reply.writeHead(200).end(JSON.stringify({ state }));
    });
    await harness.app.advance(5 * MINUTE_MS);
    // A review without a polling interval is decided by the operator.
    expect(service.cases.map(({ id }) => id)).toEqual([
      firstVerification.id,
      secondVerification.id,
    ]);
    expect(await harness.readStatuses(platform, id)).toEqual(['PENDING']);
    await decideManually(id, 'approved');
    expect(await harness.readStatuses(platform, id)).toEqual(['APPROVED']);
  });

  it('has no effect on a deleted customer', async () => {
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    const id = await createCompleteCustomer();
    await submitCustomer(id);
    ok(await harness.app.call('DELETE', `/customers/${id}`, undefined, { platform }), 200);
    service.respondWith({ state: 'approved' });
    await harness.app.advance(5 * MINUTE_MS);
    expect(await harness.readEventTypes(id)).toEqual(PENDING_EVENTS);
  });

  it('decides listed owners individually and the other owners with the business', async () => {
    const { id } = await harness.createBusiness(platform, 'REG-1');
    const owners = await harness.completeBusiness(platform, id, ['Hopper', 'Lamarr', 'Noether']);
    const [firstOwnerId, secondOwnerId] = owners.map((owner) => owner.id);
    service.respondWith({
      state: 'approved',
      owners: { [firstOwnerId as string]: 'REJECTED', [secondOwnerId as string]: 'PENDING' },
    });
    ok(await harness.submitVerification(platform, id), 200);
    expect(await harness.readStatuses(platform, id)).toEqual([
      'APPROVED',
      'REJECTED',
      'PENDING',
      'APPROVED',
    ]);
  });

  it('does not decide owners that were added after the submission', async () => {
    const { id } = await harness.createBusiness(platform, 'REG-2');
    await harness.completeBusiness(platform, id);
    service.respondWith({ state: 'review', checkAfterMs: MINUTE_MS });
    await submitCustomer(id);
    const addedOwner = await harness.addOwner(platform, id, 'Late', 20);
    service.respondWith({ state: 'approved' });
    await harness.app.advance(5 * MINUTE_MS);
    expect(await harness.readStatuses(platform, id)).toEqual([
      'APPROVED',
      'APPROVED',
      'UNVERIFIED',
    ]);
    const event = (await harness.app.events()).find(
      ({ type, subject }) => type === 'CUSTOMER.KYB_APPROVED' && subject === id,
    );
    expect(event?.data.beneficialOwners[1]).toMatchObject({
      id: addedOwner.id,
      kycStatus: 'UNVERIFIED',
    });
  });
});
