// The verification page shows the brand of the platform, even after its link has expired.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const app = testApp();

const LOGO = 'https://cdn.shop.example/logo.png';

describe('the brand of the verification page', () => {
  async function openPage(pathname: string) {
    const reply = await app.server.inject({ method: 'GET', url: pathname });
    const policy = String(reply.headers['content-security-policy']);
    return { status: reply.statusCode, body: reply.body, policy };
  }

  it('is the brand of the platform, even after the link has expired', async () => {
    const platformOptions = { platform: app.unregulated };
    const { id } = await createCustomer(app, platformOptions, {
      idType: 'SSN',
      identifier: '123-45-6789',
    });
    const { kycUrl } = ok(
      await app.call('POST', `/customers/${id}/kyc-link`, {}, platformOptions),
      201,
    );
    const { pathname } = new URL(kycUrl);
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.unregulated.id);
      const brand = { brand_color: '#0a7d5a', wallet_config: { logoUrl: LOGO } };
      if (row) ctx.update(platforms, row, brand);
    }, app.unregulated);
    const page = await openPage(pathname);
    expect(page.status).toBe(200);
    app.effects.set(app.effects.now() + 24 * 3_600_000);
    const expiredPage = await openPage(pathname);
    expect(expiredPage.status).toBe(410);
    for (const { body, policy } of [page, expiredPage]) {
      expect(body).toContain('<span class="platform">Unregulated</span>');
      expect(body).toContain(`src="${LOGO}"`);
      expect(body).toContain('--brand-light:#0a7d5a');
      expect(policy).toMatch(/img-src [^;]*https:\/\/cdn\.shop\.example(;|$)/);
      expect(policy).toMatch(/style-src [^;]*'sha256-/);
    }
  });

  it('is not shown for an unknown link', async () => {
    const { status, body } = await openPage('/verify/unknown');
    expect(status).toBe(410);
    expect(body).not.toContain('<header>');
  });
});
