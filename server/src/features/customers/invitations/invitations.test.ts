import { describe, expect, it } from 'vitest';
import { customer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { customers } from '../records/store.ts';
import { invitationOperations } from './operations.ts';
import { eraseInvitations } from './personal.ts';
import { invitations } from './store.ts';

const app = testApp();

interface Person {
  id: string;
  umaAddress: string;
}

const inviter = (as: TestPlatform = app.platform, more: object = {}): Promise<Person> =>
  customer(app, { as }, more);
const invite = (body: object, as: TestPlatform = app.platform) =>
  app.call('POST', '/invitations', body, { as });
const made = async (more: object = {}, as: TestPlatform = app.platform) => {
  const { umaAddress } = await inviter(as);
  return ok(await invite({ inviterUma: umaAddress, ...more }, as), 201);
};
const show = (code: string, as: TestPlatform = app.platform) =>
  app.call('GET', `/invitations/${code}`, undefined, { as });
const claim = (code: string, inviteeUma: unknown, as: TestPlatform = app.platform) =>
  app.call('POST', `/invitations/${code}/claim`, { inviteeUma }, { as });
const cancel = (code: string, as: TestPlatform = app.platform) =>
  app.call('POST', `/invitations/${code}/cancel`, undefined, { as });

const fieldsOf = (answer: { body: { details: { errors: { field: string }[] } } }) =>
  answer.body.details.errors.map((error) => error.field).sort();
const outcome = (answer: { status: number; body: { code?: string } }) => [
  answer.status,
  answer.body.code,
];

const tenBytes = (text: string) => text.padEnd(20, '0');

const STRANGER = '$friend@elsewhere.example';
const inOneHour = () => new Date(app.world.now() + 3_600_000).toISOString();

describe('createInvitation', () => {
  it('makes a code and a page', async () => {
    const { umaAddress } = await inviter();
    const expiresAt = inOneHour();
    const body = { inviterUma: umaAddress.toUpperCase(), firstName: 'Bob <3', expiresAt };
    const invitation = ok(await invite(body), 201);
    expect(invitation.code).toMatch(/^[0-9a-f]{20}$/);
    expect(invitation).toEqual({
      code: invitation.code,
      createdAt: new Date(app.world.now()).toISOString(),
      url: `http://127.0.0.1/i/${invitation.code}`,
      expiresAt,
      inviterUma: umaAddress,
      status: 'PENDING',
      firstName: 'Bob <3',
    });
    expect((await show(invitation.code)).body).toEqual(invitation);
  });

  it("means an amount in the inviter's first currency", async () => {
    const { umaAddress } = await inviter(app.platform, { currencies: ['EUR', 'USD'] });
    const invitation = ok(await invite({ inviterUma: umaAddress, amountToSend: 12_50 }), 201);
    expect(invitation.amountToSend).toEqual({
      amount: 12_50,
      currency: { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
    });
    expect(invitation).not.toHaveProperty('expiresAt');
  });

  it('names every bad field at once', async () => {
    const bad = { inviterUma: '', firstName: 'x'.repeat(101), amountToSend: 0, expiresAt: 'soon' };
    const refused = await invite(bad);
    expect(outcome(refused)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual(['amountToSend', 'expiresAt', 'firstName', 'inviterUma']);
    const expiresAt = new Date(app.world.now()).toISOString();
    const late = await invite({ inviterUma: '$nobody@nowhere.example', expiresAt });
    expect(outcome(late)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(late)).toEqual(['expiresAt', 'inviterUma']);
    const { umaAddress } = await inviter();
    expect(fieldsOf(await invite({ inviterUma: umaAddress, expiresAt }))).toEqual(['expiresAt']);
    expect(fieldsOf(await invite({}))).toEqual(['inviterUma']);
  });

  it('wants a living customer of the platform to invite', async () => {
    const [foreign, gone] = [await inviter(app.other), await inviter()];
    await app.call('DELETE', `/customers/${gone.id}`);
    for (const inviterUma of [foreign.umaAddress, gone.umaAddress, '$a@b.example', 'x']) {
      const refused = await invite({ inviterUma });
      expect(outcome(refused)).toEqual([400, 'INVALID_UMA_ADDRESS']);
      expect(fieldsOf(refused)).toEqual(['inviterUma']);
    }
  });

  it('is refused where the operator has switched it off', async () => {
    const as = await app.newPlatform('Alone');
    const open = await made({}, as);
    await app.runtime.db.query('update platforms set invitations = false where id = $1', [as.id]);
    const { umaAddress } = await inviter(as);
    const refused = await invite({ inviterUma: umaAddress }, as);
    expect(outcome(refused)).toEqual([400, 'INVITATIONS_NOT_CONFIGURED']);
    expect((await claim(open.code, STRANGER, app.other)).status).toBe(200);
  });

  it('draws again what was drawn before, also when two draw at once', async () => {
    const { umaAddress } = await inviter();
    const [operation] = invitationOperations({ origin: () => 'http://here' });
    const draws = (...codes: string[]) => {
      const world = {
        ...app.world,
        random: (bytes: number) =>
          bytes === 10 ? Buffer.from(codes.shift() ?? 'none', 'hex') : app.world.random(bytes),
      };
      const caller = systemCaller(app.platform.id, 'sandbox');
      const input = { params: {}, query: {}, headers: {}, body: { inviterUma: umaAddress } };
      return operate({ ...app.runtime, world }, caller, async (ctx) => operation?.run(ctx, input));
    };
    expect(await draws(tenBytes('0badc0de'))).toMatchObject({
      body: { code: tenBytes('0badc0de') },
    });
    expect(
      await draws(tenBytes('0badc0de'), tenBytes('0badc0de'), tenBytes('12345678')),
    ).toMatchObject({
      body: { code: tenBytes('12345678') },
    });
    const both = await Promise.all([
      draws(tenBytes('aaaa0000'), tenBytes('aaaa0001')),
      draws(tenBytes('aaaa0000'), tenBytes('aaaa0002')),
    ]);
    const codes = both.map((each) => (each as { body: { code: string } }).body.code);
    expect(new Set(codes).size).toBe(2);
    expect(codes).toContain(tenBytes('aaaa0000'));
  });
});

describe('getInvitation', () => {
  it('answers whoever knows the code, within one environment', async () => {
    const invitation = await made();
    expect((await show(invitation.code, app.other)).body).toEqual(invitation);
    const calls = [show, (code: string, as?: TestPlatform) => claim(code, STRANGER, as), cancel];
    for (const call of calls) {
      const hidden = await call(invitation.code, app.production);
      expect(outcome(hidden)).toEqual([404, 'INVITATION_NOT_FOUND']);
      for (const code of ['00000000', 'x', `${invitation.code}0`, '%00']) {
        expect((await call(code)).body).toEqual(hidden.body);
      }
    }
    expect((await show(invitation.code)).body.status).toBe('PENDING');
    const real = await made({}, app.production);
    expect((await show(real.code)).status).toBe(404);
    expect((await show(real.code, app.production)).body).toEqual(real);
  });

  it('calls a pending one expired once its time is over', async () => {
    const invitation = await made({ expiresAt: inOneHour() });
    await app.advance(3_600_000 - 1);
    expect((await show(invitation.code)).body.status).toBe('PENDING');
    await app.advance(1);
    expect((await show(invitation.code)).body.status).toBe('EXPIRED');
    for (const refused of [await claim(invitation.code, STRANGER), await cancel(invitation.code)]) {
      expect(outcome(refused)).toEqual([400, 'INVALID_INPUT']);
      expect(refused.body.details).toEqual({ expiredAt: invitation.expiresAt });
    }
  });
});

describe('a code of an older version', () => {
  it('works as before', async () => {
    const { code } = await made({ firstName: 'Bob' });
    const old = 'c0ffee42';
    await app.operate(async (ctx) => {
      const row = await ctx.read(invitations, code);
      if (row) ctx.insert(invitations, { ...row, id: old });
    });
    expect((await show(old)).body).toMatchObject({ code: old, status: 'PENDING' });
    const page = await app.app.server.inject(`/i/${old}`);
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining(`>${old}</span>`)]);
    expect(ok(await claim(old, STRANGER), 200)).toMatchObject({ code: old, status: 'CLAIMED' });
  });
});

describe('claimInvitation', () => {
  it('is told to the platform that made it, whoever claims', async () => {
    const invitation = await made({ firstName: 'Bob', amountToSend: 5_00, expiresAt: inOneHour() });
    const invitee = await inviter(app.other);
    await app.advance(1_000);
    const claimed = ok(await claim(invitation.code, invitee.umaAddress, app.other), 200);
    expect(claimed).toEqual({
      ...invitation,
      status: 'CLAIMED',
      inviteeUma: invitee.umaAddress,
      claimedAt: new Date(app.world.now()).toISOString(),
    });
    await app.settle();
    const told = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(told.map(({ type, platformId, data }) => ({ type, platformId, data }))).toEqual([
      { type: 'INVITATION.CLAIMED', platformId: app.platform.id, data: claimed },
    ]);
    await app.advance(3_600_000);
    expect((await show(invitation.code)).body).toEqual(claimed);
    expect(outcome(await claim(invitation.code, STRANGER))).toEqual([
      400,
      'INVITATION_ALREADY_CLAIMED',
    ]);
    expect(outcome(await cancel(invitation.code))).toEqual([400, 'INVITATION_ALREADY_CLAIMED']);
  });

  it('is won by one of many', async () => {
    const invitation = await made();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        claim(invitation.code, `$friend${at}@elsewhere.example`, at % 2 ? app.other : app.platform),
      ),
    );
    const won = answers.filter((each) => each.status === 200);
    expect(won).toHaveLength(1);
    for (const lost of answers.filter((each) => each.status !== 200)) {
      expect(outcome(lost)).toEqual([400, 'INVITATION_ALREADY_CLAIMED']);
    }
    expect((await show(invitation.code)).body).toEqual(won[0]?.body);
    await app.settle();
    const told = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(told).toHaveLength(1);
  });

  it('is not made for a customer who is deleted at that moment', async () => {
    const invitation = await made();
    const friend = await inviter();
    const claims = invitationOperations({ origin: () => 'http://here' }).find(
      ({ contract }) => contract.operationId === 'claimInvitation',
    );
    const params = { invitationCode: invitation.code };
    const input = { params, query: {}, headers: {}, body: { inviteeUma: friend.umaAddress } };
    let isThere = true;
    const claiming = operate(app.runtime, systemCaller(app.platform.id, 'sandbox'), async (ctx) => {
      const reply = await claims?.run(ctx, input);
      if (isThere) ok(await app.call('DELETE', `/customers/${friend.id}`), 200);
      isThere = false;
      return reply;
    });
    await expect(claiming).rejects.toMatchObject({ code: 'INVALID_UMA_ADDRESS' });
    expect((await show(invitation.code)).body.status).toBe('PENDING');
  });

  it.each([undefined, null, 7, ''])('refuses %j as an address', async (inviteeUma) => {
    const refused = await claim((await made()).code, inviteeUma);
    expect(outcome(refused)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual(['inviteeUma']);
  });

  it('refuses what is no address, and addresses that are not the caller to speak for', async () => {
    const invitation = await made();
    const theirs = await inviter(app.other);
    const gone = await inviter();
    await app.call('DELETE', `/customers/${gone.id}`);
    const nobody = `$nobody@${theirs.umaAddress.split('@')[1]}`;
    const bad = ['friend@x', '$friend', '$fr iend@x.example', theirs.umaAddress, gone.umaAddress];
    for (const inviteeUma of [...bad, nobody]) {
      const refused = await claim(invitation.code, inviteeUma);
      expect([inviteeUma, ...outcome(refused)]).toEqual([inviteeUma, 400, 'INVALID_UMA_ADDRESS']);
      expect(fieldsOf(refused)).toEqual(['inviteeUma']);
    }
    expect((await show(invitation.code)).body).toEqual(invitation);
  });

  it('is not for the inviter', async () => {
    const invitation = await made();
    const refused = await claim(invitation.code, invitation.inviterUma.toUpperCase());
    expect(outcome(refused)).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(refused)).toEqual(['inviteeUma']);
  });

  it('moves no money', async () => {
    const invitation = await made({ amountToSend: 5_00 });
    const count = 'select count(*)::int4 as n from transactions';
    const before = await app.runtime.db.query(count, []);
    await claim(invitation.code, STRANGER);
    await app.settle();
    expect(await app.runtime.db.query(count, [])).toEqual(before);
  });
});

describe('cancelInvitation', () => {
  it('ends what is pending, once', async () => {
    const invitation = await made();
    expect(ok(await cancel(invitation.code), 200)).toEqual({ ...invitation, status: 'CANCELLED' });
    expect(outcome(await cancel(invitation.code))).toEqual([400, 'INVITATION_CANCELLED']);
    const late = await claim(invitation.code, STRANGER, app.other);
    expect(outcome(late)).toEqual([400, 'INVITATION_CANCELLED']);
    await app.settle();
    const told = (await app.events()).filter((each) => each.subject === invitation.code);
    expect(told).toEqual([]);
  });

  it('is for the platform that made it', async () => {
    const invitation = await made();
    expect(outcome(await cancel(invitation.code, app.other))).toEqual([403, 'FORBIDDEN']);
    expect((await show(invitation.code)).body.status).toBe('PENDING');
  });

  it('and a claim at the same time end it one way', async () => {
    const invitation = await made();
    const [cancelled, claimed] = await Promise.all([
      cancel(invitation.code),
      claim(invitation.code, STRANGER, app.other),
    ]);
    expect([cancelled.status, claimed.status].sort()).toEqual([200, 400]);
    const winner = cancelled.status === 200 ? cancelled : claimed;
    expect((await show(invitation.code)).body).toEqual(winner.body);
  });
});

describe('what invitations know of a customer', () => {
  const sentBy = (customer_id: string) =>
    app.runtime.db.find(invitations, { customer_id }, { limit: 10_000 });

  it('is erased', async () => {
    const [sender, friend] = [await inviter(), await inviter()];
    const body = { inviterUma: sender.umaAddress, firstName: 'Bob' };
    const open = ok(await invite(body), 201);
    const used = ok(await invite(body), 201);
    await claim(used.code, friend.umaAddress);
    expect(await app.operate((ctx) => eraseInvitations(ctx, sender.id))).toBe(2);
    expect(await app.operate((ctx) => eraseInvitations(ctx, sender.id))).toBe(0);
    const after = (await show(open.code)).body;
    expect(after.status).toBe('CANCELLED');
    expect(after).not.toHaveProperty('firstName');
    expect((await show(used.code)).body).toMatchObject({ status: 'CLAIMED' });
    const rows = await sentBy(sender.id);
    expect(rows.map((each) => each.first_name)).toEqual([null, null]);
  });

  it('is erased however many they sent', async () => {
    const sender = await inviter();
    const { code } = ok(await invite({ inviterUma: sender.umaAddress, firstName: 'Bob' }), 201);
    const [row] = await sentBy(sender.id);
    await app.operate(async (ctx) => {
      for (let at = 0; row && at < 1_000; at++) {
        ctx.insert(invitations, { ...row, id: `copy ${at}`, created_at: row.created_at + at });
      }
    });
    expect(await app.operate((ctx) => eraseInvitations(ctx, sender.id))).toBe(1_001);
    const all = await sentBy(sender.id);
    expect(all).toHaveLength(1_001);
    expect(all.filter((each) => each.first_name !== null)).toEqual([]);
    expect((await show(code)).body.status).toBe('CANCELLED');
  });

  it('is not told of an inviter who was erased meanwhile: it could not be sealed', async () => {
    const { umaAddress, id } = await inviter();
    const { code } = ok(await invite({ inviterUma: umaAddress }), 201);
    ok(await claim(code, STRANGER), 200);
    await app.runtime.db.query(
      'update customers set data_key = null, personal = null, version = version + 1 where id = $1',
      [id],
    );
    await app.settle();
    expect((await app.events()).filter((each) => each.subject === code)).toEqual([]);
  });

  it('is sealed in the event', async () => {
    const invitation = await made({ firstName: 'Roberta' });
    await claim(invitation.code, STRANGER);
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
