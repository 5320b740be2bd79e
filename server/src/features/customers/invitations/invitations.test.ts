// Invitations from creation to claim, cancellation or expiry.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { customers } from '../records/store.ts';
import { invitationOperations } from './operations.ts';
import { eraseInvitations } from './personal-data.ts';
import { invitations } from './store.ts';

const app = testApp();

interface Person {
  id: string;
  umaAddress: string;
}

const createPerson = (
  platform: TestPlatform = app.platform,
  overrides: object = {},
): Promise<Person> => createCustomer(app, { platform }, overrides);
const invite = (body: object, platform: TestPlatform = app.platform) =>
  app.call('POST', '/invitations', body, { platform });
const createInvitationOfNewInviter = async (
  overrides: object = {},
  platform: TestPlatform = app.platform,
) => {
  const { umaAddress } = await createPerson(platform);
  return ok(await invite({ inviterUma: umaAddress, ...overrides }, platform), 201);
};
const show = (code: string, platform: TestPlatform = app.platform) =>
  app.call('GET', `/invitations/${code}`, undefined, { platform });
const claim = (code: string, inviteeUma: unknown, platform: TestPlatform = app.platform) =>
  app.call('POST', `/invitations/${code}/claim`, { inviteeUma }, { platform });
const cancel = (code: string, platform: TestPlatform = app.platform) =>
  app.call('POST', `/invitations/${code}/cancel`, undefined, { platform });

const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();
const outcomeOf = (response: { status: number; body: { code?: string } }) => [
  response.status,
  response.body.code,
];

const padCode = (text: string) => text.padEnd(20, '0');

const EXTERNAL_UMA = '$friend@elsewhere.example';
const timeInOneHour = () => new Date(app.effects.now() + 3_600_000).toISOString();

describe('createInvitation', () => {
  it('creates a code and a link', async () => {
    const { umaAddress } = await createPerson();
    const expiresAt = timeInOneHour();
    const body = { inviterUma: umaAddress.toUpperCase(), firstName: 'Bob <3', expiresAt };
    const invitation = ok(await invite(body), 201);
    expect(invitation.code).toMatch(/^[0-9a-f]{20}$/);
    expect(invitation).toEqual({
      code: invitation.code,
      createdAt: new Date(app.effects.now()).toISOString(),
      url: `http://127.0.0.1/i/${invitation.code}`,
      expiresAt,
      inviterUma: umaAddress,
      status: 'PENDING',
      firstName: 'Bob <3',
    });
    expect((await show(invitation.code)).body).toEqual(invitation);
  });

  it("uses the inviter's first currency for the amount", async () => {
    const { umaAddress } = await createPerson(app.platform, { currencies: ['EUR', 'USD'] });
    const invitation = ok(await invite({ inviterUma: umaAddress, amountToSend: 12_50 }), 201);
    expect(invitation.amountToSend).toEqual({
      amount: 12_50,
      currency: { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
    });
    expect(invitation).not.toHaveProperty('expiresAt');
  });

  it('reports all invalid fields together', async () => {
    const invalidBody = {
      inviterUma: '',
      firstName: 'x'.repeat(101),
      amountToSend: 0,
      expiresAt: 'soon',
    };
    const rejectedResponse = await invite(invalidBody);
    expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual([
      'amountToSend',
      'expiresAt',
      'firstName',
      'inviterUma',
    ]);
    const expiresAt = new Date(app.effects.now()).toISOString();
    const unknownInviterResponse = await invite({
      inviterUma: '$unknown@elsewhere.example',
      expiresAt,
    });
    expect(outcomeOf(unknownInviterResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(unknownInviterResponse)).toEqual(['expiresAt', 'inviterUma']);
    const { umaAddress } = await createPerson();
    expect(fieldsOf(await invite({ inviterUma: umaAddress, expiresAt }))).toEqual(['expiresAt']);
    expect(fieldsOf(await invite({}))).toEqual(['inviterUma']);
  });

  it('rejects inviters that are unknown, deleted or of another platform', async () => {
    const [foreignPerson, deletedPerson] = [await createPerson(app.other), await createPerson()];
    await app.call('DELETE', `/customers/${deletedPerson.id}`);
    for (const inviterUma of [
      foreignPerson.umaAddress,
      deletedPerson.umaAddress,
      '$a@b.example',
      'x',
    ]) {
      const rejectedResponse = await invite({ inviterUma });
      expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVALID_UMA_ADDRESS']);
      expect(fieldsOf(rejectedResponse)).toEqual(['inviterUma']);
    }
  });

  it('is rejected if invitations are disabled, and earlier invitations remain claimable', async () => {
    const platform = await app.newPlatform('Alone');
    const openInvitation = await createInvitationOfNewInviter({}, platform);
    await app.runtime.db.query('update platforms set invitations = false where id = $1', [
      platform.id,
    ]);
    const { umaAddress } = await createPerson(platform);
    const rejectedResponse = await invite({ inviterUma: umaAddress }, platform);
    expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVITATIONS_NOT_CONFIGURED']);
    expect((await claim(openInvitation.code, EXTERNAL_UMA, app.other)).status).toBe(200);
  });

  it('generates a new code on a collision, even for concurrent requests', async () => {
    const { umaAddress } = await createPerson();
    const [operation] = invitationOperations({ origin: () => 'http://here' });
    const generate = (...codes: string[]) => {
      const effects = {
        ...app.effects,
        random: (bytes: number) =>
          bytes === 10 ? Buffer.from(codes.shift() ?? 'none', 'hex') : app.effects.random(bytes),
      };
      const caller = systemCaller(app.platform.id, 'sandbox');
      const input = { params: {}, query: {}, headers: {}, body: { inviterUma: umaAddress } };
      return operate({ ...app.runtime, effects }, caller, async (ctx) =>
        operation?.run(ctx, input),
      );
    };
    expect(await generate(padCode('0badc0de'))).toMatchObject({
      body: { code: padCode('0badc0de') },
    });
    expect(
      await generate(padCode('0badc0de'), padCode('0badc0de'), padCode('12345678')),
    ).toMatchObject({
      body: { code: padCode('12345678') },
    });
    const generatedCodes = await Promise.all([
      generate(padCode('aaaa0000'), padCode('aaaa0001')),
      generate(padCode('aaaa0000'), padCode('aaaa0002')),
    ]);
    const codes = generatedCodes.map((each) => (each as { body: { code: string } }).body.code);
    expect(new Set(codes).size).toBe(2);
    expect(codes).toContain(padCode('aaaa0000'));
  });
});

describe('getInvitation', () => {
  it('returns the invitation by its code within one environment', async () => {
    const invitation = await createInvitationOfNewInviter();
    expect((await show(invitation.code, app.other)).body).toEqual(invitation);
    const calls = [
      show,
      (code: string, platform?: TestPlatform) => claim(code, EXTERNAL_UMA, platform),
      cancel,
    ];
    for (const call of calls) {
      const productionReply = await call(invitation.code, app.production);
      expect(outcomeOf(productionReply)).toEqual([404, 'INVITATION_NOT_FOUND']);
      for (const code of ['00000000', 'x', `${invitation.code}0`, '%00']) {
        expect((await call(code)).body).toEqual(productionReply.body);
      }
    }
    expect((await show(invitation.code)).body.status).toBe('PENDING');
    const productionInvitation = await createInvitationOfNewInviter({}, app.production);
    expect((await show(productionInvitation.code)).status).toBe(404);
    expect((await show(productionInvitation.code, app.production)).body).toEqual(
      productionInvitation,
    );
  });

  it('reports EXPIRED after the expiry time', async () => {
    const invitation = await createInvitationOfNewInviter({ expiresAt: timeInOneHour() });
    await app.advance(3_600_000 - 1);
    expect((await show(invitation.code)).body.status).toBe('PENDING');
    await app.advance(1);
    expect((await show(invitation.code)).body.status).toBe('EXPIRED');
    for (const rejectedResponse of [
      await claim(invitation.code, EXTERNAL_UMA),
      await cancel(invitation.code),
    ]) {
      expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
      expect(rejectedResponse.body.details).toEqual({ expiredAt: invitation.expiresAt });
    }
  });
});

describe('a code of an older version', () => {
  it('can be read and claimed', async () => {
    const { code } = await createInvitationOfNewInviter({ firstName: 'Bob' });
    const oldCode = 'c0ffee42';
    await app.operate(async (ctx) => {
      const row = await ctx.read(invitations, code);
      if (row) ctx.insert(invitations, { ...row, id: oldCode });
    });
    expect((await show(oldCode)).body).toMatchObject({ code: oldCode, status: 'PENDING' });
    const page = await app.app.server.inject(`/i/${oldCode}`);
    expect([page.statusCode, page.body]).toEqual([
      200,
      expect.stringContaining(`>${oldCode}</span>`),
    ]);
    expect(ok(await claim(oldCode, EXTERNAL_UMA), 200)).toMatchObject({
      code: oldCode,
      status: 'CLAIMED',
    });
  });
});

describe('claimInvitation', () => {
  it('emits the event to the creating platform for any claimant', async () => {
    const invitation = await createInvitationOfNewInviter({
      firstName: 'Bob',
      amountToSend: 5_00,
      expiresAt: timeInOneHour(),
    });
    const invitee = await createPerson(app.other);
    await app.advance(1_000);
    const claimedInvitation = ok(await claim(invitation.code, invitee.umaAddress, app.other), 200);
    expect(claimedInvitation).toEqual({
      ...invitation,
      status: 'CLAIMED',
      inviteeUma: invitee.umaAddress,
      claimedAt: new Date(app.effects.now()).toISOString(),
    });
    await app.settle();
    const events = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(events.map(({ type, platformId, data }) => ({ type, platformId, data }))).toEqual([
      { type: 'INVITATION.CLAIMED', platformId: app.platform.id, data: claimedInvitation },
    ]);
    await app.advance(3_600_000);
    expect((await show(invitation.code)).body).toEqual(claimedInvitation);
    expect(outcomeOf(await claim(invitation.code, EXTERNAL_UMA))).toEqual([
      400,
      'INVITATION_ALREADY_CLAIMED',
    ]);
    expect(outcomeOf(await cancel(invitation.code))).toEqual([400, 'INVITATION_ALREADY_CLAIMED']);
  });

  it('succeeds for one of several concurrent claims', async () => {
    const invitation = await createInvitationOfNewInviter();
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        claim(
          invitation.code,
          `$friend${index}@elsewhere.example`,
          index % 2 ? app.other : app.platform,
        ),
      ),
    );
    const acceptedResponses = responses.filter((each) => each.status === 200);
    expect(acceptedResponses).toHaveLength(1);
    for (const rejectedResponse of responses.filter((each) => each.status !== 200)) {
      expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVITATION_ALREADY_CLAIMED']);
    }
    expect((await show(invitation.code)).body).toEqual(acceptedResponses[0]?.body);
    await app.settle();
    const events = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(events).toHaveLength(1);
  });

  it('is rejected for an invitee that is deleted concurrently', async () => {
    const invitation = await createInvitationOfNewInviter();
    const invitee = await createPerson();
    const claimHandler = invitationOperations({ origin: () => 'http://here' }).find(
      ({ contract }) => contract.operationId === 'claimInvitation',
    );
    const params = { invitationCode: invitation.code };
    const input = { params, query: {}, headers: {}, body: { inviteeUma: invitee.umaAddress } };
    let inviteeExists = true;
    const claimOperation = operate(
      app.runtime,
      systemCaller(app.platform.id, 'sandbox'),
      async (ctx) => {
        const reply = await claimHandler?.run(ctx, input);
        if (inviteeExists) ok(await app.call('DELETE', `/customers/${invitee.id}`), 200);
        inviteeExists = false;
        return reply;
      },
    );
    await expect(claimOperation).rejects.toMatchObject({ code: 'INVALID_UMA_ADDRESS' });
    expect((await show(invitation.code)).body.status).toBe('PENDING');
  });

  it.each([undefined, null, 7, ''])('rejects the address %j', async (inviteeUma) => {
    const rejectedResponse = await claim((await createInvitationOfNewInviter()).code, inviteeUma);
    expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual(['inviteeUma']);
  });

  it('rejects addresses that are malformed, deleted, unassigned or of other platforms', async () => {
    const invitation = await createInvitationOfNewInviter();
    const otherPerson = await createPerson(app.other);
    const deletedPerson = await createPerson();
    await app.call('DELETE', `/customers/${deletedPerson.id}`);
    const unassignedAddress = `$unassigned@${otherPerson.umaAddress.split('@')[1]}`;
    const invalidAddresses = [
      'friend@x',
      '$friend',
      '$fr iend@x.example',
      otherPerson.umaAddress,
      deletedPerson.umaAddress,
    ];
    for (const inviteeUma of [...invalidAddresses, unassignedAddress]) {
      const rejectedResponse = await claim(invitation.code, inviteeUma);
      expect([inviteeUma, ...outcomeOf(rejectedResponse)]).toEqual([
        inviteeUma,
        400,
        'INVALID_UMA_ADDRESS',
      ]);
      expect(fieldsOf(rejectedResponse)).toEqual(['inviteeUma']);
    }
    expect((await show(invitation.code)).body).toEqual(invitation);
  });

  it('rejects the inviter as invitee', async () => {
    const invitation = await createInvitationOfNewInviter();
    const rejectedResponse = await claim(invitation.code, invitation.inviterUma.toUpperCase());
    expect(outcomeOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(rejectedResponse)).toEqual(['inviteeUma']);
  });

  it('creates no transaction', async () => {
    const invitation = await createInvitationOfNewInviter({ amountToSend: 5_00 });
    const countSql = 'select count(*)::int4 as n from transactions';
    const countsBefore = await app.runtime.db.query(countSql, []);
    await claim(invitation.code, EXTERNAL_UMA);
    await app.settle();
    expect(await app.runtime.db.query(countSql, [])).toEqual(countsBefore);
  });
});

describe('cancelInvitation', () => {
  it('cancels a pending invitation once', async () => {
    const invitation = await createInvitationOfNewInviter();
    expect(ok(await cancel(invitation.code), 200)).toEqual({ ...invitation, status: 'CANCELLED' });
    expect(outcomeOf(await cancel(invitation.code))).toEqual([400, 'INVITATION_CANCELLED']);
    const claimResponse = await claim(invitation.code, EXTERNAL_UMA, app.other);
    expect(outcomeOf(claimResponse)).toEqual([400, 'INVITATION_CANCELLED']);
    await app.settle();
    const events = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(events).toEqual([]);
  });

  it('is restricted to the creating platform', async () => {
    const invitation = await createInvitationOfNewInviter();
    expect(outcomeOf(await cancel(invitation.code, app.other))).toEqual([403, 'FORBIDDEN']);
    expect((await show(invitation.code)).body.status).toBe('PENDING');
  });

  it('resolves a concurrent claim to one result', async () => {
    const invitation = await createInvitationOfNewInviter();
    const [cancelResponse, claimResponse] = await Promise.all([
      cancel(invitation.code),
      claim(invitation.code, EXTERNAL_UMA, app.other),
    ]);
    expect([cancelResponse.status, claimResponse.status].sort()).toEqual([200, 400]);
    const acceptedResponse = cancelResponse.status === 200 ? cancelResponse : claimResponse;
    expect((await show(invitation.code)).body).toEqual(acceptedResponse.body);
  });
});

describe('personal data in invitations', () => {
  const findInvitationsOf = (customer_id: string) =>
    app.runtime.db.find(invitations, { customer_id }, { limit: 10_000 });

  it('is erased', async () => {
    const [inviter, invitee] = [await createPerson(), await createPerson()];
    const body = { inviterUma: inviter.umaAddress, firstName: 'Bob' };
    const openInvitation = ok(await invite(body), 201);
    const usedInvitation = ok(await invite(body), 201);
    await claim(usedInvitation.code, invitee.umaAddress);
    expect(await app.operate((ctx) => eraseInvitations(ctx, inviter.id))).toBe(2);
    expect(await app.operate((ctx) => eraseInvitations(ctx, inviter.id))).toBe(0);
    const invitationAfter = (await show(openInvitation.code)).body;
    expect(invitationAfter.status).toBe('CANCELLED');
    expect(invitationAfter).not.toHaveProperty('firstName');
    expect((await show(usedInvitation.code)).body).toMatchObject({ status: 'CLAIMED' });
    const rows = await findInvitationsOf(inviter.id);
    expect(rows.map((each) => each.first_name)).toEqual([null, null]);
  });

  it('is erased in more than a thousand invitations', async () => {
    const inviter = await createPerson();
    const { code } = ok(await invite({ inviterUma: inviter.umaAddress, firstName: 'Bob' }), 201);
    const [row] = await findInvitationsOf(inviter.id);
    await app.operate(async (ctx) => {
      for (let index = 0; row && index < 1_000; index++) {
        ctx.insert(invitations, {
          ...row,
          id: `copy ${index}`,
          created_at: row.created_at + index,
        });
      }
    });
    expect(await app.operate((ctx) => eraseInvitations(ctx, inviter.id))).toBe(1_001);
    const invitationsAfter = await findInvitationsOf(inviter.id);
    expect(invitationsAfter).toHaveLength(1_001);
    expect(invitationsAfter.filter((each) => each.first_name !== null)).toEqual([]);
    expect((await show(code)).body.status).toBe('CANCELLED');
  });

  it('is not emitted after the erasure of the inviter', async () => {
    const { umaAddress, id } = await createPerson();
    const { code } = ok(await invite({ inviterUma: umaAddress }), 201);
    ok(await claim(code, EXTERNAL_UMA), 200);
    await app.runtime.db.query(
      'update customers set data_key = null, personal = null, version = version + 1 where id = $1',
      [id],
    );
    await app.settle();
    expect((await app.events()).filter((each) => each.subject === code)).toEqual([]);
  });

  it('is encrypted in the event', async () => {
    const invitation = await createInvitationOfNewInviter({ firstName: 'Roberta' });
    await claim(invitation.code, EXTERNAL_UMA);
    await app.worker.runDue();
    const [event] = await app.runtime.db.query(
      'select data, sealed_for from events where subject = $1',
      [invitation.code],
    );
    const [row] = await app.runtime.db.find(customers, { uma_address: invitation.inviterUma });
    expect(event?.sealed_for).toBe(row?.id);
    expect(event?.data).not.toContain('Roberta');
  });
});
