import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import { openDesk, PERSON } from '../../../../test/kit/customers/onboarding.ts';
import { paperForm, pdfFile } from '../../../../test/kit/http/documents.ts';
import { beneficialOwners } from '../owners/owners.ts';
import { customers } from '../records/store.ts';
import { decide } from './decide.ts';
import { type VerificationError, wantedOf } from './index.ts';
import { latestOf } from './record.ts';
import { verifications } from './store.ts';

const desk = opened(openDesk);
let as: TestPlatform;
beforeAll(async () => {
  as = await desk.platformOf('default');
});

const read = (path: string, by = as) => desk.app.call('GET', path, undefined, { as: by });

/** A person with everything that is asked for. */
async function complete(fullName: string, more: object = {}) {
  const { id } = await desk.person(as, fullName, more);
  await desk.paper(as, id, 'PASSPORT');
  return id as string;
}

const row = async (id: string) => {
  const customer = await desk.app.runtime.db.read(customers, id);
  if (!customer) throw new Error('no customer');
  return customer;
};

describe('createVerification', () => {
  it('answers the verification, which can be read again, and tells the same', async () => {
    const { id } = await desk.person(as, 'Ada', { nationality: undefined });
    const made = ok(await desk.submit(as, id), 200);
    expect(made).toEqual({
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
    expect(ok(await read(`/verifications/${made.id}`), 200)).toEqual(made);
    const told = (await desk.app.events()).find((each) => each.subject === made.id);
    expect([told?.type, told?.data]).toEqual(['VERIFICATION.RESOLVE_ERRORS', made]);
  });

  it('keeps what stands in the way sealed', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace');
    const made = ok(await desk.submit(as, id), 200);
    const [kept] = await desk.app.runtime.db.query('select * from verifications where id = $1', [
      made.id,
    ]);
    expect(JSON.stringify(kept)).not.toContain('MISSING');
    const erase = 'update customers set data_key = null, personal = null where id = $1';
    await desk.app.runtime.db.query(erase, [id]);
    expect(ok(await read(`/verifications/${made.id}`), 200).errors).toEqual([]);
    expect(ok(await read(`/verifications?customerId=${id}`), 200).data[0].errors).toEqual([]);
  });

  it('refuses unknown, foreign, deleted and decided customers', async () => {
    const code = async (id: string, by = as) => {
      const { status, body } = await desk.submit(by, id);
      return [status, body.code];
    };
    const mine = await complete('Ada Lovelace');
    for (const id of ['nobody', `Customer:${mine.slice(-36, -4)}0000`, `${mine}x`]) {
      expect(await code(id)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    expect(await code(mine, desk.app.other)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    expect(await code(mine)).toEqual([200, undefined]);
    expect(await code(mine)).toEqual([400, 'INVALID_INPUT']);
    const gone = (await desk.person(as, 'Ada Lovelace')).id;
    ok(await desk.app.call('DELETE', `/customers/${gone}`, undefined, { as }), 200);
    expect(await code(gone)).toEqual([410, 'CUSTOMER_DELETED']);
    const missing = await desk.app.call('POST', '/verifications', {}, { as });
    expect([missing.status, missing.body.details.errors[0].field]).toEqual([400, 'customerId']);
  });

  it('waits until the contacts are verified', async () => {
    const contact = { region: 'DE', email: 'a@example.de', phoneNumber: '+4915112345678' };
    const id = await complete('Ada Lovelace', contact);
    const answer = await desk.submit(as, id);
    expect([answer.status, answer.body.code]).toEqual([409, 'CONFLICT']);
    await desk.app.operate(async (ctx) => {
      const known = await ctx.read(customers, id);
      const contact_verification = { email: 'VERIFIED', phone: 'VERIFIED' } as const;
      if (known) ctx.update(customers, known, { contact_verification });
    }, as);
    expect(ok(await desk.submit(as, id), 200).verificationStatus).toBe('APPROVED');
  });

  it('is done once for one idempotency key', async () => {
    const id = await complete('Ada Lovelace 001');
    const headers = { 'idempotency-key': `submit ${id}` };
    const send = () => desk.app.call('POST', '/verifications', { customerId: id }, { as, headers });
    const first = ok(await send(), 200);
    expect(ok(await send(), 200)).toEqual(first);
    expect(ok(await read(`/verifications?customerId=${id}`), 200).data).toHaveLength(1);
  });

  it('holds the documents that it was given', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace 003');
    const passport = await desk.paper(as, id, 'PASSPORT');
    ok(await desk.submit(as, id), 200);
    const removal = await desk.app.call('DELETE', `/documents/${passport.id}`, undefined, { as });
    expect([removal.status, removal.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('leaves what is not complete alone', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace 001', { birthDate: undefined });
    const passport = await desk.paper(as, id, 'PASSPORT');
    ok(await desk.submit(as, id), 200);
    ok(await desk.app.call('DELETE', `/documents/${passport.id}`, undefined, { as }), 204);
  });
});

describe('listVerifications', () => {
  it('filters and pages, newest first, and shows nobody else’s', async () => {
    const mine = await desk.platformOf('default');
    const person = await desk.person(mine, 'Ada Lovelace 001');
    const other = await desk.person(mine, 'Grace Hopper 001');
    const ids: string[] = [];
    for (const id of [person.id, other.id, person.id]) {
      desk.app.world.set(desk.app.world.now() + 1_000);
      ids.unshift(ok(await desk.submit(mine, id), 200).id);
    }
    await desk.paper(mine, person.id, 'PASSPORT');
    ids.unshift(ok(await desk.submit(mine, person.id), 200).id);
    const list = async (query: string, by = mine) =>
      ok(await read(`/verifications?${query}`, by), 200);
    const idsOf = (page: { data: { id: string }[] }) => page.data.map((each) => each.id);
    expect(idsOf(await list(''))).toEqual(ids);
    expect(idsOf(await list(`customerId=${other.id}`))).toEqual([ids[2]]);
    expect(idsOf(await list('verificationStatus=PENDING_MANUAL_REVIEW'))).toEqual([ids[0]]);
    expect(idsOf(await list('verificationStatus=IN_PROGRESS'))).toEqual([]);
    const first = await list('limit=3');
    expect([idsOf(first), first.hasMore]).toEqual([ids.slice(0, 3), true]);
    const rest = await list(`limit=3&cursor=${encodeURIComponent(first.nextCursor)}`);
    expect([idsOf(rest), rest.hasMore]).toEqual([ids.slice(3), false]);
    expect(idsOf(await list(`customerId=${person.id}`, desk.app.other))).toEqual([]);
    for (const query of ['verificationStatus=DONE', 'limit=0', 'cursor=x']) {
      expect((await read(`/verifications?${query}`, mine)).status).toBe(400);
    }
  });
});

describe('getVerification', () => {
  it("answers another platform's like an unknown one", async () => {
    const { id } = await desk.person(as, 'Ada Lovelace');
    const made = ok(await desk.submit(as, id), 200);
    const theirs = await read(`/verifications/${made.id}`, desk.app.other);
    expect([theirs.status, theirs.body.code]).toEqual([404, 'VERIFICATION_NOT_FOUND']);
  });
});

describe('wantedOf', () => {
  const parts = { connectors: () => ({}) };
  const wanted = (id: string) =>
    desk.app.operate(async (ctx) => wantedOf(ctx, parts, await row(id)), as);
  const later = () => desk.app.world.set(desk.app.world.now() + 1);

  it('says what is missing and changes nothing', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace');
    const { gaps, findings } = await wanted(id);
    expect(gaps.map((each) => each.type)).toEqual(['MISSING_IDENTITY_DOCUMENT']);
    expect(findings).toEqual([]);
    expect(ok(await read(`/verifications?customerId=${id}`), 200).data).toEqual([]);
  });

  it('tells of what was found until something was done about it', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace 001');
    await desk.paper(as, id, 'PASSPORT');
    await desk.submit(as, id);
    const [paper] = ok(await read(`/documents?documentHolder=${id}`), 200).data;
    const found = (resourceId: string, type: string, more = {}) => ({
      ...{ resourceId, type, reason: 'Please' },
      ...more,
    });
    const accepted = { acceptedDocumentTypes: ['UTILITY_BILL'] };
    const errors = [
      found(paper.id, 'UNREADABLE_DOCUMENT'),
      found(id, 'INVALID_FIELD', { field: 'address' }),
      found(id, 'MISSING_PROOF_OF_ADDRESS_DOCUMENT', accepted),
    ] as VerificationError[];
    await desk.app.operate(
      async (ctx) => void (await decide(ctx, await row(id), { state: 'unresolved', errors })),
      as,
    );
    const standing = async () => (await wanted(id)).findings.map((each) => each.type);
    expect((await wanted(id)).findings).toEqual(errors);
    expect((await desk.submit(as, id)).body).toMatchObject({
      ...{ verificationStatus: 'RESOLVE_ERRORS', errors },
    });
    expect((await row(id)).status).toBe('HOLD');
    later();
    await desk.paper(as, id, 'UTILITY_BILL');
    expect(await standing()).toEqual(['UNREADABLE_DOCUMENT', 'INVALID_FIELD']);
    const change = { customerType: 'INDIVIDUAL', address: { ...PERSON.address, line1: '2 Main' } };
    ok(await desk.app.call('PATCH', `/customers/${id}`, change, { as }), 200);
    expect(await standing()).toEqual(['UNREADABLE_DOCUMENT']);
    const fields = { documentType: 'PASSPORT', country: 'US', documentNumber: 'X-2' };
    const form = paperForm({ ...fields, issuingAuthority: 'State' }, { bytes: pdfFile() });
    ok(await desk.app.call('PUT', `/documents/${paper.id}`, form, { as }), 200);
    expect(await standing()).toEqual([]);
    expect((await desk.submit(as, id)).body.verificationStatus).toBe('PENDING_MANUAL_REVIEW');
  });
});

describe('at the same time', () => {
  const events = (id: string) => desk.told(id);

  it('two submissions are one after the other, and one of them counts', async () => {
    const id = await complete('Ada Lovelace 001');
    const answers = await Promise.all([1, 2, 3, 4].map(() => desk.submit(as, id)));
    expect(answers.map((each) => each.status)).toEqual([200, 200, 200, 200]);
    const rows = await desk.app.runtime.db.find(verifications, { customer_id: id });
    expect([rows.length, rows.filter((each) => each.latest).length]).toEqual([4, 1]);
    const told = await events(id);
    expect(told.filter((type) => type === 'CUSTOMER.KYC_PENDING')).toHaveLength(1);
    expect(told.slice(0, 2)).toEqual([
      'VERIFICATION.PENDING_MANUAL_REVIEW',
      'CUSTOMER.KYC_PENDING',
    ]);
  });

  it('two submissions that decide are one decision', async () => {
    const id = await complete('Ada Lovelace');
    const answers = await Promise.all([1, 2, 3].map(() => desk.submit(as, id)));
    expect(answers.map((each) => each.status).sort()).toEqual([200, 400, 400]);
    expect(await events(id)).toEqual(['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED']);
  });

  it('a decision and a resubmission leave one of two stories', async () => {
    for (let round = 0; round < 6; round++) {
      const id = await complete('Ada Lovelace 001');
      ok(await desk.submit(as, id), 200);
      const before = await events(id);
      const decideIt = desk.app.operate(async (ctx) => {
        const customer = await ctx.read(customers, id);
        if (customer) await decide(ctx, customer, { state: 'approved' });
      }, as);
      const [answer] = await Promise.all([desk.submit(as, id), decideIt]);
      expect(await desk.statuses(as, id)).toEqual(['APPROVED']);
      const latest = await latestOf(desk.app.runtime, id);
      expect([latest?.status, latest?.decided_by]).toEqual(['APPROVED', 'operator']);
      const pending = answer.status === 200 ? ['VERIFICATION.PENDING_MANUAL_REVIEW'] : [];
      expect(await events(id)).toEqual([
        ...[...before, ...pending],
        ...['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED'],
      ]);
    }
  });

  it('two decisions are the first one', async () => {
    const id = await complete('Ada Lovelace 001');
    ok(await desk.submit(as, id), 200);
    const settle = (state: 'approved' | 'rejected') =>
      desk.app.operate(async (ctx) => {
        const customer = await ctx.read(customers, id);
        if (customer) await decide(ctx, customer, { state });
      }, as);
    const both = await Promise.allSettled([settle('approved'), settle('rejected')]);
    expect(both.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    const decided = both[0]?.status === 'fulfilled' ? 'APPROVED' : 'REJECTED';
    expect(await desk.statuses(as, id)).toEqual([decided]);
    expect((await events(id)).slice(2)).toEqual([
      ...[`VERIFICATION.${decided}`, `CUSTOMER.KYC_${decided}`],
    ]);
  });

  it('a submission does not pass over an owner who changes', async () => {
    const { id } = await desk.firm(as, 'REG-1');
    const [owner] = await desk.packet(as, id);
    const change = desk.app.operate(async (ctx) => {
      const known = await ctx.read(beneficialOwners, owner?.id as string);
      if (known) ctx.update(beneficialOwners, known, { share: 31, updated_at: ctx.now });
    }, as);
    const [answer] = await Promise.all([desk.submit(as, id), change]);
    expect(ok(answer, 200).verificationStatus).toBe('APPROVED');
    const kept = await desk.app.runtime.db.read(beneficialOwners, owner?.id as string);
    expect([kept?.status, kept?.share]).toEqual(['APPROVED', 31]);
  });
});
