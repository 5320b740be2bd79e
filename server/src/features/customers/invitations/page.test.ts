// The hosted page of an invitation in each of its states.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
const limitedApp = testApp({ rateLimits: { requests: 0, quotes: 0, rejected: 2 } });

async function createInvitationOfNewInviter(
  overrides: object = {},
  platform: TestPlatform = app.platform,
) {
  const inviter = await createCustomer(app, { platform }, { email: 'ada@example.com' });
  const body = { inviterUma: inviter.umaAddress, ...overrides };
  return ok(await app.call('POST', '/invitations', body, { platform }), 201);
}

const openPage = (code: string, method: 'GET' | 'POST' = 'GET', testedApp = app) =>
  testedApp.server.inject({ method, url: `/i/${code}` });

const PERSONAL_DATA = ['Lovelace', 'ada@example.com', '1 Main St', '1990'];

describe('the page of an invitation', () => {
  it('shows the inviter, the amount and the providers', async () => {
    const expiresAt = new Date(app.effects.now() + 3_600_000).toISOString();
    const invitation = await createInvitationOfNewInviter({
      firstName: '<b>Bob</b>',
      amountToSend: 1_250_00,
      expiresAt,
    });
    const { pathname } = new URL(invitation.url);
    expect(pathname).toBe(`/i/${invitation.code}`);
    const { statusCode, body, headers } = await openPage(invitation.code);
    expect(statusCode).toBe(200);
    for (const message of [
      'You are invited, &#60;b&#62;Bob&#60;/b&#62;',
      `${invitation.inviterUma} invites you`,
      '<dt>Amount that the inviter intends to send</dt>\n<dd><span class="code">1,250.00 USD</span></dd>',
      `<dt>Your invitation code</dt>\n<dd><span class="code">${invitation.code}</span></dd>`,
      'Andenpay: andenpay.example',
      '<span class="code">2026-01-05 10:00 UTC</span>',
    ]) {
      expect(body).toContain(message);
    }
    // Payments to Blockvale are blocked.
    expect(body).not.toContain('Blockvale');
    expect(body).not.toMatch(/<(script|button|form|a)\b/);
    for (const value of PERSONAL_DATA) expect(body).not.toContain(value);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
  });

  it('omits the amount, the name and the expiry if absent', async () => {
    const { body } = await openPage((await createInvitationOfNewInviter()).code);
    expect(body).toContain('<h1>You are invited</h1>');
    expect(body).not.toContain('intends to send');
    expect(body).not.toContain('Valid until');
  });

  it('lists no sandbox providers in production', async () => {
    const invitation = await createInvitationOfNewInviter({}, app.production);
    const { statusCode, body } = await openPage(invitation.code);
    expect(statusCode).toBe(200);
    expect(body).not.toContain('.example');
  });

  it('shows the final status of an invitation without personal data', async () => {
    const expiresAt = new Date(app.effects.now() + 1_000).toISOString();
    const invitationFields = { firstName: 'Bob', amountToSend: 5_00 };
    const [usedInvitation, expiredInvitation, canceledInvitation] = [
      await createInvitationOfNewInviter(invitationFields),
      await createInvitationOfNewInviter({ ...invitationFields, expiresAt }),
      await createInvitationOfNewInviter(invitationFields),
    ];
    await app.call('POST', `/invitations/${usedInvitation.code}/claim`, {
      inviteeUma: '$f@x.example',
    });
    await app.call('POST', `/invitations/${canceledInvitation.code}/cancel`);
    await app.advance(1_000);
    for (const [invitation, title] of [
      [usedInvitation, 'This invitation was already used'],
      [expiredInvitation, 'This invitation has expired'],
      [canceledInvitation, 'This invitation was canceled'],
    ] as const) {
      const { statusCode, body } = await openPage(invitation.code);
      expect(statusCode).toBe(410);
      expect(body).toContain(title);
      for (const term of ['Bob', '5.00', invitation.inviterUma, '$f@x.example']) {
        expect(body).not.toContain(term);
      }
    }
  });

  it.each(['00000000', 'x', '%00', 'ABCDEF01', 'e'.repeat(90)])(
    'returns 404 for %s',
    async (code) => {
      const { statusCode, body } = await openPage(code);
      expect(statusCode).toBe(404);
      expect(body).toContain('Invitation not found');
    },
  );

  it('returns the same page to a POST request, without effect', async () => {
    const invitation = await createInvitationOfNewInviter();
    const postResponse = await openPage(invitation.code, 'POST');
    expect(postResponse.body).toBe((await openPage(invitation.code)).body);
    const response = await app.call('GET', `/invitations/${invitation.code}`);
    expect(response.body).toEqual(invitation);
  });

  it('counts only attempts with unknown codes for the rate limit', async () => {
    const inviter = await createCustomer(limitedApp);
    const body = { inviterUma: inviter.umaAddress };
    const { code } = ok(await limitedApp.call('POST', '/invitations', body), 201);
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await openPage(code, 'GET', limitedApp)).statusCode).toBe(200);
    }
    for (let attempt = 0; attempt < 4; attempt++) {
      expect((await openPage('00000000', 'GET', limitedApp)).statusCode).toBe(404);
    }
    for (const requestedCode of ['00000000', code]) {
      const rejectedResponse = await openPage(requestedCode, 'GET', limitedApp);
      expect(rejectedResponse.statusCode).toBe(429);
      expect(rejectedResponse.headers['retry-after']).toBe('1');
      expect(rejectedResponse.body).toContain('Too many attempts');
    }
    limitedApp.effects.set(limitedApp.effects.now() + 1_000);
    expect((await openPage(code, 'GET', limitedApp)).statusCode).toBe(200);
  });
});
