// The identity check by HTTP: its request, and the decision in each response.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { startIdentityService } from '../../../test/kit/http/identity-service.ts';
import type { IdentityCase } from '../ports/index.ts';
import { httpIdentity, parseVerdict } from './identity.ts';

const finding = { type: 'EXPIRED_DOCUMENT', resourceId: 'Document:1', reason: 'Since May.' };

describe('parseVerdict', () => {
  it.each([
    [{ state: 'approved' }, { state: 'approved', owners: {} }],
    [
      { state: 'approved', owners: { 'BeneficialOwner:1': 'PENDING' }, more: 1 },
      { state: 'approved', owners: { 'BeneficialOwner:1': 'PENDING' } },
    ],
    [{ state: 'rejected' }, { state: 'rejected', owners: {}, findings: [] }],
    [
      { state: 'unresolved', findings: [{ ...finding, secret: 'x' }] },
      { state: 'unresolved', findings: [finding] },
    ],
    [{ state: 'review' }, { state: 'review' }],
    [
      { state: 'review', checkAfterMs: 0 },
      { state: 'review', checkAfterMs: 1_000 },
    ],
    [
      { state: 'review', checkAfterMs: 1e15 },
      { state: 'review', checkAfterMs: 604_800_000 },
    ],
  ])('parses %j', (body, verdict) => expect(parseVerdict(body)).toEqual(verdict));

  it.each([
    ...[undefined, null, [], 'approved', 1, {}, { state: 'done' }, { state: 'unknown' }],
    { state: 'unresolved' },
    { state: 'unresolved', findings: [] },
    { state: 'unresolved', findings: [{ type: 'BAD_HAIR' }] },
    { state: 'unresolved', findings: [{ ...finding, field: 7 }] },
    { state: 'unresolved', findings: 'EXPIRED_DOCUMENT' },
    { state: 'approved', owners: { 'BeneficialOwner:1': 'MAYBE' } },
    { state: 'approved', owners: [] },
    { state: 'review', checkAfterMs: 'soon' },
  ])('returns undefined for %j', (body) => expect(parseVerdict(body)).toBeUndefined());
});

const SUBMITTED_CASE: IdentityCase = {
  ...{ id: 'Verification:1', platformId: 'PlatformConfig:1', customerId: 'Customer:1' },
  ...{ type: 'INDIVIDUAL', email: null, phoneNumber: null, identifier: '123-45-6789' },
  details: { fullName: 'Ada Lovelace' },
  ...{ owners: [], documents: [] },
};

describe('httpIdentity', () => {
  const service = openForFile(startIdentityService);

  const problems: string[] = [];
  const createPort = () =>
    httpIdentity(testEffects(), service.url, (problem) => void problems.push(problem));

  it('sends the case unchanged and reads the verdict', async () => {
    service.respondWith({ state: 'approved' });
    expect(await createPort().submit(SUBMITTED_CASE)).toEqual({ state: 'approved', owners: {} });
    expect(await createPort().check(SUBMITTED_CASE)).toEqual({ state: 'approved', owners: {} });
    expect(service.cases).toEqual([SUBMITTED_CASE, SUBMITTED_CASE]);
    expect(problems).toEqual([]);
  });

  it('returns unknown for any other response, and logs no case and no address', async () => {
    const unknownVerdict = { state: 'unknown', checkAfterMs: 60_000 };
    service.respondWith((reply) => reply.writeHead(201).end('{"state":"approved"}'));
    expect(await createPort().submit(SUBMITTED_CASE)).toEqual(unknownVerdict);
    service.respondWith((reply) => reply.writeHead(200).end('approved'));
    expect(await createPort().submit(SUBMITTED_CASE)).toEqual(unknownVerdict);
    service.respondWith((reply) => reply.socket?.destroy());
    expect(await createPort().submit(SUBMITTED_CASE)).toEqual(unknownVerdict);
    service.respondWith((reply) => {
      reply.writeHead(200).end(JSON.stringify({ state: 'approved', pad: 'x'.repeat(1_100_000) }));
    });
    expect(await createPort().submit(SUBMITTED_CASE)).toEqual(unknownVerdict);
    expect(problems).toEqual([
      'The identity service responded with 201 and without a verdict.',
      'The identity service responded with 200 and without a verdict.',
      'The identity service does not respond.',
      expect.stringMatching(/^The identity service /),
    ]);
    expect(problems.join()).not.toMatch(/Ada|127\.0\.0\.1/);
  });
});
