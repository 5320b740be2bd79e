// Expiry on the clock of a sandbox platform. A change of the clock expires only resources of its platform.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  sendCode,
} from '../../../../test/kit/customers/contacts.ts';
import { loginFixture, statusCodeAndFields } from '../../../../test/kit/sca/login.ts';
import {
  CODE,
  createPhoneVerifiedCustomer,
  createQuotedPayout,
  createScaPayer,
  execute,
} from '../../../../test/kit/sca/strong-customers.ts';
import { walletFixture } from '../../../../test/kit/wallets/embedded-wallets.ts';

const DAY = 24 * 3_600_000;

const app = testApp();

/** A platform whose clock was changed once, so that it differs from real time. */
async function createPlatformWithClock(name: string): Promise<TestPlatform> {
  const platform = await app.newPlatform(name);
  await advance(platform, 'P1D');
  return platform;
}

async function advance(platform: TestPlatform, duration: string): Promise<void> {
  ok(await app.call('POST', '/sandbox/clock', { advance: duration }, { platform }), 200);
}

/** Creates the same resources on a platform with its own clock and on a platform in real time. */
async function createOnBothPlatforms<T>(
  name: string,
  create: (platform: TestPlatform) => Promise<T>,
) {
  const platformWithClock = await createPlatformWithClock(name);
  const [onOwnClock, onOtherPlatform] = [await create(platformWithClock), await create(app.other)];
  return { platform: platformWithClock, onOwnClock, onOtherPlatform };
}

describe('on the clock of a platform', () => {
  it('an invitation expires', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Invitations',
      async (platform) => {
        const { umaAddress } = await createCustomer(app, { platform });
        const clock = ok(await app.call('GET', '/sandbox/clock', undefined, { platform }), 200);
        const expiresAt = new Date(Date.parse(clock.currentTime) + 3_600_000).toISOString();
        const body = { inviterUma: umaAddress, expiresAt };
        return ok(await app.call('POST', '/invitations', body, { platform }), 201).code as string;
      },
    );
    const statusOf = async (platform: TestPlatform, code: string) =>
      ok(await app.call('GET', `/invitations/${code}`, undefined, { platform }), 200).status;
    await advance(platform, 'PT59M');
    expect(await statusOf(platform, onOwnClock)).toBe('PENDING');
    await advance(platform, 'PT1M');
    expect(await statusOf(platform, onOwnClock)).toBe('EXPIRED');
    expect(await statusOf(app.other, onOtherPlatform)).toBe('PENDING');
  });

  it('a session of a wallet expires', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Sessions',
      async (platform) => {
        const wallets = walletFixture(app, { platform });
        const { accountId } = await wallets.createWalletCustomer();
        await wallets.openEmailSession(accountId);
        return { wallets, accountId };
      },
    );
    const listSessions = ({ wallets, accountId }: typeof onOwnClock) =>
      wallets.sessionsOf(accountId);
    await advance(platform, 'PT14M');
    expect(await listSessions(onOwnClock)).toHaveLength(1);
    await advance(platform, 'PT1M');
    expect(await listSessions(onOwnClock)).toEqual([]);
    expect(await listSessions(onOtherPlatform)).toHaveLength(1);
  });

  it('a code for a contact expires', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Codes',
      async (platform) => {
        const { id } = await createEuropeanCustomer(app, { platform });
        ok(await sendCode(app, id, 'email', { platform }), 204);
        return id as string;
      },
    );
    await advance(platform, 'PT10M');
    const expiredResponse = await confirmCode(app, onOwnClock, 'email', CODE, { platform });
    expect(expiredResponse.status).toBe(400);
    ok(await confirmCode(app, onOtherPlatform, 'email', CODE, { platform: app.other }), 200);
    ok(await sendCode(app, onOwnClock, 'email', { platform }), 204);
    ok(await confirmCode(app, onOwnClock, 'email', CODE, { platform }), 200);
  });

  it('a lockout after failed logins expires', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Lockouts',
      async (platform) => {
        const { id } = await createPhoneVerifiedCustomer(app, { platform });
        const login = loginFixture(app, { platform });
        await login.failTimes(id, 5);
        return { id: id as string, login };
      },
    );
    const failLogin = async ({ id, login }: typeof onOwnClock) =>
      statusCodeAndFields(await login.fail(id));
    await advance(platform, 'PT14M');
    expect(await failLogin(onOwnClock)).toEqual([423, 'ACCOUNT_LOCKED']);
    await advance(platform, 'PT1M');
    expect((await failLogin(onOwnClock))[0]).toBe(200);
    expect(await failLogin(onOtherPlatform)).toEqual([423, 'ACCOUNT_LOCKED']);
  });

  it('a login challenge expires', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Challenges',
      async (platform) => {
        const { id } = await createPhoneVerifiedCustomer(app, { platform });
        const login = loginFixture(app, { platform });
        const { challengeId } = ok(await login.start(id, 'SMS_OTP'), 200);
        return { id: id as string, login, challengeId };
      },
    );
    const complete = ({ id, login, challengeId }: typeof onOwnClock) =>
      login.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE });
    await advance(platform, 'PT1H');
    expect((await complete(onOwnClock)).status).toBe(400);
    ok(await complete(onOtherPlatform), 200);
  });

  it('a payment that is not authorized in time fails', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Payments',
      async (platform) => {
        const payer = await createScaPayer(app, {}, { platform });
        const { quote } = await createQuotedPayout(app, payer, {}, { platform });
        const executedBody = ok(await execute(app, quote.id, {}, { platform }), 200);
        return { id: quote.id as string, status: executedBody.status };
      },
    );
    const statusOf = async (platform: TestPlatform, id: string) =>
      ok(await app.call('GET', `/quotes/${id}`, undefined, { platform }), 200).status;
    expect(onOwnClock.status).toBe('PENDING_AUTHORIZATION');
    await advance(platform, 'PT1H');
    expect(await statusOf(platform, onOwnClock.id)).toBe('FAILED');
    expect(await statusOf(app.other, onOtherPlatform.id)).toBe(onOtherPlatform.status);
  });

  it('a card expires after its last month, but still accepts refunds', async () => {
    const { platform, onOwnClock, onOtherPlatform } = await createOnBothPlatforms(
      'Cards',
      async (platform) => {
        const cards = cardFixture(app, { platform });
        const card = await cards.createCard(await cards.createCardholder({ funds: 100_00 }));
        return { cards, card };
      },
    );
    /** `approved`, or the decline reason in the decision log. */
    const authorize = async ({ cards, card }: typeof onOwnClock, kind = 'authorization') => {
      const merchant = { descriptor: 'Bookshop' };
      const body = { amount: 1_00, currency: { code: 'USD' }, merchant };
      ok(await cards.call('POST', `/sandbox/cards/${card.id}/simulate/${kind}`, body), 202);
      const lastEntry = (await cardNetwork(app).logOf(card.id)).at(-1);
      return lastEntry?.approved ? 'approved' : lastEntry?.reason;
    };
    const expiry = Date.UTC(onOwnClock.card.expYear, onOwnClock.card.expMonth);
    const setClockTo = async (time: number) => {
      const to = new Date(time).toISOString();
      ok(await app.call('POST', '/sandbox/clock', { to }, { platform }), 200);
    };
    // A call advances a clock by at most two years.
    for (const days of [1_400, 700]) await setClockTo(expiry - days * DAY);
    await setClockTo(expiry - 60_000);
    expect(await authorize(onOwnClock)).toBe('approved');
    await setClockTo(expiry);
    expect(await authorize(onOwnClock)).toBe('CARD_EXPIRED');
    expect(await authorize(onOwnClock, 'credit_authorization')).toBe('approved');
    expect(await authorize(onOtherPlatform)).toBe('approved');
  });
});
