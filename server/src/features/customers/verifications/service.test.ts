// Production customers checked by a service of the operator's own: a real HTTP server, asked while the
// client waits and again by jobs; and what happens when it is slow, silent, late or overtaken.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import { openDesk } from '../../../../test/kit/customers/onboarding.ts';
import { startIdentityService } from '../../../../test/kit/http/identity-service.ts';
import { customers } from '../records/store.ts';
import { decide } from './decide.ts';
import { latestOf } from './record.ts';

const MINUTE = 60_000;

const service = opened(startIdentityService);
const desk = opened(() => openDesk({ connectors: { identityUrl: service.url } }));
let as: TestPlatform;
beforeAll(async () => {
  as = await desk.platformOf('default', 'production');
});
beforeEach(() => void service.cases.splice(0));

const PENDING = ['VERIFICATION.PENDING_MANUAL_REVIEW', 'CUSTOMER.KYC_PENDING'];
const APPROVED = ['VERIFICATION.APPROVED', 'CUSTOMER.KYC_APPROVED'];

async function complete(fullName = 'Ada Lovelace'): Promise<string> {
  const { id } = await desk.person(as, fullName);
  await desk.paper(as, id, 'PASSPORT');
  return id;
}

const submitted = async (id: string) => ok(await desk.submit(as, id), 200);

async function decideByHand(id: string, state: 'approved' | 'rejected') {
  await desk.app.operate(async (ctx) => {
    const customer = await ctx.read(customers, id);
    if (customer) await decide(ctx, customer, { state });
  }, as);
}

describe('a service', () => {
  it('is not asked about what is not complete', async () => {
    const { id } = await desk.person(as, 'Ada Lovelace');
    service.answer({ state: 'approved' });
    expect((await submitted(id)).verificationStatus).toBe('RESOLVE_ERRORS');
    expect(service.cases).toEqual([]);
  });

  it('is given the whole case and decides at once', async () => {
    service.answer({ state: 'approved' });
    const id = await complete('Ada Lovelace 002');
    const made = await submitted(id);
    expect(made.verificationStatus).toBe('APPROVED');
    expect(service.cases).toMatchObject([
      {
        ...{ id: made.id, customerId: id, platformId: as.id, type: 'INDIVIDUAL' },
        identifier: '123-45-6789',
        details: { fullName: 'Ada Lovelace 002', nationality: 'US' },
        documents: [{ holder: id, documentType: 'PASSPORT', documentNumber: 'X-100' }],
      },
    ]);
    expect(await desk.told(id)).toEqual(APPROVED);
  });

  it('that takes its time is asked again until it has decided', async () => {
    service.answer({ state: 'review', checkAfterMs: 5 * MINUTE });
    const id = await complete();
    const made = await submitted(id);
    expect(await desk.told(id)).toEqual(PENDING);
    await desk.app.advance(6 * MINUTE);
    expect(service.cases.map((each) => each.id)).toEqual([made.id, made.id]);
    service.answer({ state: 'approved' });
    await desk.app.advance(5 * MINUTE);
    expect(await desk.told(id)).toEqual([...PENDING, ...APPROVED]);
    expect((await latestOf(desk.app.runtime, id))?.decided_by).toBe('connector');
    await desk.app.advance(60 * MINUTE);
    expect(service.cases).toHaveLength(3);
  });

  it('that is silent delays and fails nothing', async () => {
    service.answer((reply) => reply.socket?.destroy());
    const id = await complete();
    expect((await submitted(id)).verificationStatus).toBe('PENDING_MANUAL_REVIEW');
    await desk.app.advance(MINUTE);
    service.answer({ state: 'rejected', findings: [{ type: 'APPLICANT_SANCTIONED' }] });
    await desk.app.advance(MINUTE);
    expect(await desk.statuses(as, id)).toEqual(['REJECTED']);
    const last = (await desk.app.events()).findLast(
      (each) => each.type === 'VERIFICATION.REJECTED',
    );
    expect(last?.data.errors).toMatchObject([{ resourceId: id, type: 'APPLICANT_SANCTIONED' }]);
    expect(await desk.told(id)).toEqual([
      ...PENDING,
      ...['VERIFICATION.REJECTED', 'CUSTOMER.KYC_REJECTED'],
    ]);
  });

  it('that stays silent is asked ever more rarely, and heard when it is back', async () => {
    service.answer((reply) => reply.socket?.destroy());
    const id = await complete();
    await submitted(id);
    await desk.app.advance(24 * 60 * MINUTE);
    expect(service.cases.length).toBeGreaterThan(30);
    expect(service.cases.length).toBeLessThan(100);
    service.answer({ state: 'approved' });
    await desk.app.advance(60 * MINUTE);
    expect(await desk.statuses(as, id)).toEqual(['APPROVED']);
  });

  it('may want more: at once the customer stays, later it is held until it is submitted anew', async () => {
    const findings = [{ type: 'EXPIRED_DOCUMENT', resourceId: 'Document:nobody', field: 'x' }];
    service.answer({ state: 'unresolved', findings });
    const id = await complete();
    const first = await submitted(id);
    // What is not the customer's is told of the customer, and only fields have a field.
    expect(first.errors).toEqual([
      { resourceId: id, type: 'EXPIRED_DOCUMENT', reason: expect.any(String) },
    ]);
    expect(await desk.statuses(as, id)).toEqual(['UNVERIFIED']);
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    await submitted(id);
    const [document] = service.cases.at(-1)?.documents ?? [];
    const about = { type: 'EXPIRED_DOCUMENT', resourceId: document?.id, reason: 'Since May.' };
    service.answer({ state: 'unresolved', findings: [about] });
    await desk.app.advance(2 * MINUTE);
    expect(await desk.statuses(as, id)).toEqual(['HOLD']);
    const held = (await desk.app.events()).findLast(({ data }) => data?.customerId === id);
    expect([held?.type, held?.data.errors]).toEqual([
      'VERIFICATION.RESOLVE_ERRORS',
      [{ ...about, acceptedDocumentTypes: ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'] }],
    ]);
    service.answer({ state: 'approved' });
    expect((await submitted(id)).verificationStatus).toBe('APPROVED');
  });

  it('that comes too late changes nothing', async () => {
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    const id = await complete();
    await submitted(id);
    await decideByHand(id, 'rejected');
    service.answer({ state: 'approved' });
    const before = await desk.told(id);
    await desk.app.advance(5 * MINUTE);
    expect(await desk.statuses(as, id)).toEqual(['REJECTED']);
    expect(await desk.told(id)).toEqual(before);
  });

  it('that is overtaken while it thinks changes nothing', async () => {
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    const id = await complete();
    await submitted(id);
    let deciding: Promise<void> | undefined;
    service.answer((reply) => {
      deciding = decideByHand(id, 'rejected');
      void deciding.then(() => reply.writeHead(200).end('{"state":"approved"}'));
    });
    await desk.app.advance(2 * MINUTE);
    await deciding;
    expect(await desk.statuses(as, id)).toEqual(['REJECTED']);
    expect((await desk.told(id)).slice(2)).toEqual([
      ...['VERIFICATION.REJECTED', 'CUSTOMER.KYC_REJECTED'],
    ]);
  });

  it('keeps what was handed in while it thought', async () => {
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    const id = await complete();
    await submitted(id);
    const { id: bill } = await desk.paper(as, id, 'UTILITY_BILL');
    service.answer({ state: 'approved' });
    await desk.app.advance(2 * MINUTE);
    const { id: later } = await desk.paper(as, id, 'BANK_STATEMENT');
    const drop = (paper: string) =>
      desk.app.call('DELETE', `/documents/${paper}`, undefined, { as });
    expect([(await drop(bill)).status, (await drop(later)).status]).toEqual([409, 204]);
  });

  it('is heard about the latest submission alone', async () => {
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    const id = await complete();
    const first = await submitted(id);
    service.answer({ state: 'review' });
    const second = await submitted(id);
    service.answer((reply, { id: asked }) => {
      const state = asked === first.id ? 'rejected' : 'approved';
      reply.writeHead(200).end(JSON.stringify({ state }));
    });
    await desk.app.advance(5 * MINUTE);
    // A review without a time to ask again is the operator's.
    expect(service.cases.map((each) => each.id)).toEqual([first.id, second.id]);
    expect(await desk.statuses(as, id)).toEqual(['PENDING']);
    await decideByHand(id, 'approved');
    expect(await desk.statuses(as, id)).toEqual(['APPROVED']);
  });

  it('is not heard about who was deleted', async () => {
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    const id = await complete();
    await submitted(id);
    ok(await desk.app.call('DELETE', `/customers/${id}`, undefined, { as }), 200);
    service.answer({ state: 'approved' });
    await desk.app.advance(5 * MINUTE);
    expect(await desk.told(id)).toEqual(PENDING);
  });

  it('settles owners by name, and the others with the business', async () => {
    const { id } = await desk.firm(as, 'REG-1');
    const owners = await desk.packet(as, id, ['Hopper', 'Lamarr', 'Noether']);
    const [first, second] = owners.map((each) => each.id);
    service.answer({
      state: 'approved',
      owners: { [first as string]: 'REJECTED', [second as string]: 'PENDING' },
    });
    ok(await desk.submit(as, id), 200);
    expect(await desk.statuses(as, id)).toEqual(['APPROVED', 'REJECTED', 'PENDING', 'APPROVED']);
  });

  it('says nothing about owners who were named after the submission', async () => {
    const { id } = await desk.firm(as, 'REG-2');
    await desk.packet(as, id);
    service.answer({ state: 'review', checkAfterMs: MINUTE });
    await submitted(id);
    const late = await desk.owner(as, id, 'Late', 20);
    service.answer({ state: 'approved' });
    await desk.app.advance(5 * MINUTE);
    expect(await desk.statuses(as, id)).toEqual(['APPROVED', 'APPROVED', 'UNVERIFIED']);
    const told = (await desk.app.events()).find(
      ({ type, subject }) => type === 'CUSTOMER.KYB_APPROVED' && subject === id,
    );
    expect(told?.data.beneficialOwners[1]).toMatchObject({ id: late.id, kycStatus: 'UNVERIFIED' });
  });
});
