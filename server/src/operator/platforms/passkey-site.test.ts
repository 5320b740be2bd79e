// `platform create|set --passkey-rp-id --passkey-origins --sca-two-steps`: stored, shown and
// rejected values.
import { describe, expect, it } from 'vitest';
import type { TestPlatform } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';

const app = testApp();

const run = (...argv: string[]) => commandRunner(app)(argv);
const set = ({ id }: TestPlatform, ...flags: string[]) => run('platform', 'set', id, ...flags);
const siteFlags = (rpId: string, origins: string) => [
  `--passkey-rp-id=${rpId}`,
  `--passkey-origins=${origins}`,
];

async function readSite({ id }: { id: string }) {
  const { passkeySite, scaTwoSteps } = JSON.parse(
    (await run('platform', 'show', id, '--json')).out,
  );
  return { passkeySite, scaTwoSteps };
}

const ANDROID_ORIGIN = 'android:apk-key-hash:uKTwrTnTRCCaU7-hWH2nQkzAEGs';

describe('passkey site', () => {
  it('is absent by default, and can be set completely or in part', async () => {
    const { production } = app;
    expect(await readSite(production)).toEqual({ passkeySite: null, scaTwoSteps: false });
    const origins = ['https://pay.example.com', 'https://example.com:8443', ANDROID_ORIGIN];
    expect((await set(production, ...siteFlags('example.com', origins.join(',')))).code).toBe(0);
    const passkeySite = { rpId: 'example.com', origins };
    expect(await readSite(production)).toEqual({ passkeySite, scaTwoSteps: false });
    expect((await set(production, '--name', 'Production')).code).toBe(0);
    expect((await readSite(production)).passkeySite).toEqual(passkeySite);
    const originsFlag = '--passkey-origins=https://pay.example.com';
    expect((await set(production, originsFlag)).code).toBe(0);
    expect((await set(production, '--passkey-rp-id=pay.example.com')).code).toBe(0);
    const { out } = await run('platform', 'show', production.id);
    expect(out).toMatch(/Passkeys belong to +pay\.example\.com\n/);
    expect(out).toMatch(/Passkeys are used at +https:\/\/pay\.example\.com\n/);
  });

  it('can be set at creation, and does not affect another platform', async () => {
    const flags = siteFlags(
      'xn--mnchen-3ya.example',
      `https://app.xn--mnchen-3ya.example,${ANDROID_ORIGIN}`,
    );
    const createFlags = ['--name', 'Made', '--environment', 'production', '--sca-two-steps'];
    const { out } = await run('platform', 'create', ...createFlags, ...flags, '--json');
    expect(await readSite({ id: JSON.parse(out).platformId })).toEqual({
      passkeySite: {
        rpId: 'xn--mnchen-3ya.example',
        origins: ['https://app.xn--mnchen-3ya.example', ANDROID_ORIGIN],
      },
      scaTwoSteps: true,
    });
    expect(await readSite(app.other)).toEqual({ passkeySite: null, scaTwoSteps: false });
  });

  it('may be localhost in the sandbox only', async () => {
    const flags = siteFlags('localhost', 'http://localhost:5173,http://localhost:8080');
    expect((await set(app.other, ...flags)).code).toBe(0);
    expect((await set(app.production, ...flags)).code).not.toBe(0);
    const mixedSite = siteFlags('example.com', 'https://example.com,http://localhost:3000');
    expect((await set(app.production, ...mixedSite)).code).not.toBe(0);
  });

  it.each([
    ['com', 'https://example.com'],
    ['https://example.com', 'https://example.com'],
    ['example.com:443', 'https://example.com'],
    ['Example.com', 'https://example.com'],
    ['127.0.0.1', 'https://127.0.0.1'],
    ['example.com', 'https://example.org'],
    ['example.com', 'https://notexample.com'],
    ['example.com', 'https://example.com.evil.example'],
    ['pay.example.com', 'https://example.com'],
    ['example.com', 'https://example.com/'],
    ['example.com', 'https://example.com/pay'],
    ['example.com', 'https://EXAMPLE.com'],
    ['example.com', 'http://example.com'],
    ['example.com', 'https://*.example.com'],
    ['example.com', 'example.com'],
    ['example.com', 'https://example.com,https://example.com'],
  ])('cannot be %s with %s', async (rpId, origins) => {
    const { code, err } = await set(app.platform, ...siteFlags(rpId, origins));
    expect(code).not.toBe(0);
    expect(err).toContain('--passkey-');
    expect((await readSite(app.platform)).passkeySite).toBeNull();
  });

  it.each([['--passkey-rp-id=example.com'], ['--passkey-origins=https://example.com']])(
    'cannot be created by %s alone',
    async (flag) => {
      const { code, err } = await set(app.platform, flag);
      expect([code === 0, err.split('\n')[0]]).toEqual([
        false,
        expect.stringContaining('must both be set'),
      ]);
    },
  );

  it('is validated completely when a part of it changes', async () => {
    const { id } = await app.newPlatform('Partly');
    const platform = { ...app.platform, id };
    expect((await set(platform, ...siteFlags('example.com', 'https://pay.example.com'))).code).toBe(
      0,
    );
    expect((await set(platform, '--passkey-rp-id=example.org')).code).not.toBe(0);
    expect((await set(platform, '--passkey-origins=https://example.org')).code).not.toBe(0);
    expect((await readSite(platform)).passkeySite.rpId).toBe('example.com');
  });
});

describe('two-step approval of conversions', () => {
  it('is disabled by default, and can be enabled and disabled', async () => {
    const platform = await app.newPlatform('Steps');
    expect((await run('platform', 'show', platform.id)).out).not.toContain('two steps');
    expect((await set(platform, '--sca-two-steps')).code).toBe(0);
    expect((await set(platform, '--name', 'Renamed')).code).toBe(0);
    expect((await readSite(platform)).scaTwoSteps).toBe(true);
    expect((await run('platform', 'show', platform.id)).out).toContain('two steps');
    expect((await set(platform, '--no-sca-two-steps')).code).toBe(0);
    expect((await readSite(platform)).scaTwoSteps).toBe(false);
  });
});
